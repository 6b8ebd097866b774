-- An older row of a key is left out only where the view shows which one is older. Anything else
-- would be a guess.

CREATE OR REPLACE FUNCTION omd_lineage._merge_transform(
    p_view text,
    p_table_code text,
    p_key text[],
    p_position text[],
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_record_source text,
    OUT p_inserted bigint,
    OUT p_updated bigint,
    OUT p_deleted bigint,
    OUT p_discarded bigint,
    OUT p_nulls jsonb
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $merge_transform$
DECLARE
    v_block_table text := format('pg_temp.omd_block_%s', p_module_instance_id);
    v_filled record;
    v_key text := (
        SELECT string_agg(format('n.%I', k.name), ', ' ORDER BY k.n)
        FROM unnest(p_key) WITH ORDINALITY AS k (name, n)
    );
    v_written record;
    v_double text;
BEGIN
    v_filled := omd_lineage._fill_block_table(
        p_view, p_table_code, p_key, p_position, p_insert_instance_column, p_module_instance_id,
        p_record_source, 'TRUE', v_block_table
    );
    p_nulls := v_filled.p_nulls;
    p_discarded := 0;
    v_double := omd_lineage._double_key(v_block_table, v_key);
    IF v_double IS NOT NULL AND v_filled.p_order <> '{}' THEN
        EXECUTE format(
            'DELETE FROM %s AS n USING ('
            'SELECT n.ctid AS place, rank() OVER (PARTITION BY %s ORDER BY %s) AS place_in_key'
            ' FROM %s AS n) AS r WHERE n.ctid = r.place AND r.place_in_key > 1',
            v_block_table,
            v_key,
            (
                SELECT string_agg(format('n.%I DESC NULLS LAST', o.name), ', ' ORDER BY o.n)
                FROM unnest(v_filled.p_order) WITH ORDINALITY AS o (name, n)
            ),
            v_block_table
        );
        GET DIAGNOSTICS p_discarded = ROW_COUNT;
        v_double := omd_lineage._double_key(v_block_table, v_key);
        p_nulls := omd_lineage._count_nulls(v_block_table, p_nulls);
    END IF;
    IF v_double IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM117',
            jsonb_build_object(
                'transform', p_view, 'key_columns', array_to_string(p_key, ', '),
                'key', v_double, 'position', array_to_string(p_position, ', ')
            )
        );
    END IF;

    v_written := omd_lineage._replace_rows(
        to_regclass(p_table_code), p_key, v_block_table, v_block_table, v_filled.p_columns,
        p_insert_instance_column, p_module_instance_id
    );
    EXECUTE format('DROP TABLE %s', v_block_table);
    p_inserted := v_written.p_inserted;
    p_updated := v_written.p_updated;
    p_deleted := v_written.p_deleted;
    p_nulls := p_nulls - ARRAY(
        SELECT unnest(v_filled.p_order)
        EXCEPT
        SELECT unnest(v_filled.p_columns)
    );
END
$merge_transform$;

COMMENT ON FUNCTION omd_lineage._merge_transform IS
'Writes the rows of the view p_view into p_table_code, in the place of those with the same values '
'in p_key. Of several rows with one key the newest counts, by the columns p_position of the base '
'table''s position as far as the view has them. Rows are stamped as by _insert_transform. Returns '
'the numbers of rows p_inserted, p_updated, p_deleted and p_discarded (older rows of a key), and '
'p_nulls. Errors: OM117: two rows have one key, and it is not known which is newer; OM207: the '
'view or the table is missing, or a column of it. Locks: the table, against other writers.';
GRANT EXECUTE ON FUNCTION omd_lineage._merge_transform TO omd_runner;
