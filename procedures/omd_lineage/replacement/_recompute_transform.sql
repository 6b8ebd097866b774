-- The keys go into the query as literals: PostgreSQL pushes a comparison with constants below GROUP
-- BY, where an index serves it, but neither a join nor IN (SELECT …). With several key columns each
-- is compared on its own, so more keys than were touched may be computed; these rows are left out
-- afterwards. The destination is locked first, so that the rows are computed from what the last
-- writer has committed.

CREATE OR REPLACE FUNCTION omd_lineage._recompute_transform(
    p_key_view text,
    p_view text,
    p_table_code text,
    p_key text[],
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_record_source text,
    OUT p_inserted bigint,
    OUT p_updated bigint,
    OUT p_deleted bigint,
    OUT p_nulls jsonb
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $recompute_transform$
DECLARE
    v_block_table text := format('pg_temp.omd_block_%s', p_module_instance_id);
    v_key_table text := format('pg_temp.omd_key_%s', p_module_instance_id);
    v_table regclass := to_regclass(p_table_code);
    v_missing text;
    v_column record;
    v_keys text;
    v_values record;
    v_condition text := 'TRUE';
    v_filled record;
    v_written record;
    v_double text;
BEGIN
    IF to_regclass(p_key_view) IS NULL THEN
        v_missing := format('there is no view %s', p_key_view);
    ELSIF v_table IS NULL THEN
        v_missing := format('there is no table %s', p_table_code);
    ELSE
        SELECT format('%s has no column "%s"', r.name, k.name) INTO v_missing
        FROM unnest(p_key) AS k (name)
        CROSS JOIN (VALUES (p_key_view), (p_table_code)) AS r (name)
        WHERE NOT EXISTS (
            SELECT FROM pg_attribute AS a
            WHERE a.attrelid = to_regclass(r.name) AND a.attname = k.name AND NOT a.attisdropped
        )
        LIMIT 1;
    END IF;
    IF v_missing IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM207', jsonb_build_object('transform', p_key_view, 'problem', v_missing)
        );
    END IF;

    PERFORM omd_lineage._lock_destination(v_table);
    v_keys := (SELECT string_agg(quote_ident(k.name), ', ') FROM unnest(p_key) AS k (name));
    EXECUTE format(
        'CREATE TEMPORARY TABLE %s ON COMMIT DROP AS SELECT %s FROM %s WITH NO DATA',
        v_key_table, v_keys, v_table
    );
    EXECUTE format(
        'INSERT INTO %s (%s) SELECT DISTINCT %s FROM %s', v_key_table, v_keys, v_keys, p_key_view
    );
    EXECUTE format('ANALYZE %s', v_key_table);

    FOR v_column IN
        SELECT
            a.attname,
            format_type(a.atttypid, -1) AS type_name,
            omd_lineage._equals_operator(a.atttypid) AS equals,
            v.atttypid IS DISTINCT FROM a.atttypid AS is_cast
        FROM unnest(p_key) AS k (name)
        INNER JOIN pg_attribute AS a ON a.attrelid = v_table AND a.attname = k.name
        INNER JOIN pg_type AS t ON a.atttypid = t.oid AND t.typcategory <> 'A'
        LEFT JOIN pg_attribute AS v ON v.attrelid = to_regclass(p_view) AND v.attname = k.name
    LOOP
        v_values := omd_lineage._key_values(v_key_table, v_column.attname);
        v_condition := v_condition || format(
            CASE
                WHEN v_values.p_has_null THEN ' AND (%1$s %2$s ANY (%3$L::%4$s[]) OR v.%5$I IS NULL)'
                ELSE ' AND %1$s %2$s ANY (%3$L::%4$s[])'
            END,
            format(
                CASE WHEN v_column.is_cast THEN 'v.%I::%s' ELSE 'v.%I' END,
                v_column.attname, v_column.type_name
            ),
            v_column.equals,
            v_values.p_literal,
            v_column.type_name,
            v_column.attname
        );
    END LOOP;
    v_filled := omd_lineage._fill_block_table(
        p_view, p_table_code, p_key, '{}', p_insert_instance_column, p_module_instance_id,
        p_record_source, v_condition, v_block_table
    );
    EXECUTE format(
        'DELETE FROM %s AS n WHERE %s',
        v_block_table,
        (
            SELECT string_agg(
                format('NOT EXISTS (SELECT FROM %s AS k WHERE %s)', v_key_table, m.condition),
                ' AND '
            )
            FROM unnest(omd_lineage._match_keys(v_table, p_key, 'n', 'k', TRUE)) AS m (condition)
        )
    );
    p_nulls := omd_lineage._count_nulls(v_block_table, v_filled.p_nulls);
    IF omd_lineage._has_unique_key(v_table, p_key) THEN
        v_double := omd_lineage._double_key(
            v_block_table,
            (SELECT string_agg(format('n.%I', k.name), ', ') FROM unnest(p_key) AS k (name))
        );
        IF v_double IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM117',
                jsonb_build_object(
                    'transform', p_view, 'key_columns', array_to_string(p_key, ', '),
                    'key', v_double, 'position', 'pos, id'
                )
            );
        END IF;
    END IF;

    v_written := omd_lineage._replace_rows(
        v_table, p_key, v_block_table, v_key_table, v_filled.p_columns, p_insert_instance_column,
        p_module_instance_id
    );
    EXECUTE format('DROP TABLE %s, %s', v_block_table, v_key_table);
    p_inserted := v_written.p_inserted;
    p_updated := v_written.p_updated;
    p_deleted := v_written.p_deleted;
END
$recompute_transform$;

COMMENT ON FUNCTION omd_lineage._recompute_transform IS
'Writes the rows of the view p_view whose values in p_key the view p_key_view returns into '
'p_table_code, in the place of all rows with these values. Rows are stamped as by '
'_insert_transform. Returns the numbers of rows p_inserted, p_updated and p_deleted, and p_nulls. '
'Errors: OM117: the key is unique in the table, and several rows have one; OM207: a view or the '
'table is missing, or a column of it. Locks: the table, against other writers.';
GRANT EXECUTE ON FUNCTION omd_lineage._recompute_transform TO omd_runner;
