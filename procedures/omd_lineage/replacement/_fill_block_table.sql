-- The rows of the view are needed several times, and with the types of the destination, so that a
-- key means the same in both. A temporary table has them; it has no constraint, because the
-- destination checks its own.

CREATE OR REPLACE FUNCTION omd_lineage._fill_block_table(
    p_view text,
    p_table_code text,
    p_key text[],
    p_position text[],
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_record_source text,
    p_condition text,
    p_block_table text,
    OUT p_columns text[],
    OUT p_order text[],
    OUT p_nulls jsonb
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $fill_block_table$
DECLARE
    v_view regclass := to_regclass(p_view);
    v_table regclass := to_regclass(p_table_code);
    v_of_view text[];
    v_of_table text[];
    v_problem text;
BEGIN
    SELECT array_agg(a.attname::text ORDER BY a.attnum) INTO v_of_view
    FROM pg_attribute AS a
    WHERE a.attrelid = v_view AND a.attnum > 0 AND NOT a.attisdropped;
    SELECT array_agg(a.attname::text ORDER BY a.attnum) INTO v_of_table
    FROM pg_attribute AS a
    WHERE a.attrelid = v_table AND a.attnum > 0 AND NOT a.attisdropped;
    -- An id orders rows of the same time only.
    p_order := CASE
        WHEN p_position <@ v_of_view THEN p_position
        WHEN p_position[1] = ANY(v_of_view) THEN p_position[1:1]
        ELSE '{}'
    END;
    v_problem := CASE
        WHEN v_view IS NULL THEN format('there is no view %s', p_view)
        WHEN v_table IS NULL THEN format('there is no table %s', p_table_code)
        ELSE (
            SELECT min(
                format(
                    '%s has no column "%s"',
                    CASE WHEN c.name = ANY(v_of_table) THEN p_view ELSE p_table_code END,
                    c.name
                )
            )
            FROM (
                SELECT v.name FROM unnest(v_of_view) AS v (name)
                WHERE v.name <> ALL(v_of_table || p_order || omd_lineage._checks_of(v_view, v_table))
                UNION ALL
                SELECT k.name FROM unnest(p_key) AS k (name)
                WHERE k.name <> ALL(v_of_table) OR k.name <> ALL(v_of_view)
            ) AS c
        )
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM207', jsonb_build_object('transform', p_view, 'problem', v_problem)
        );
    END IF;

    SELECT array_agg(c.name ORDER BY c.n) INTO p_columns
    FROM unnest(v_of_table) WITH ORDINALITY AS c (name, n)
    WHERE c.name = ANY(v_of_view)
        OR c.name IN (p_insert_instance_column, 'omd_insert_datetime', 'omd_record_source');
    EXECUTE format(
        'CREATE TEMPORARY TABLE %s ON COMMIT DROP AS SELECT %s FROM %s AS d, %s AS v WITH NO DATA',
        p_block_table,
        (
            SELECT string_agg(
                format(CASE WHEN c.name = ANY(v_of_table) THEN 'd.%I' ELSE 'v.%I' END, c.name), ', '
            )
            FROM (
                SELECT unnest(p_columns) AS name
                UNION
                SELECT unnest(p_order) AS name
            ) AS c
        ),
        v_table,
        v_view
    );
    p_nulls := (
        omd_lineage._insert_transform(
            p_view, p_block_table, p_insert_instance_column, p_module_instance_id, p_record_source,
            p_condition
        )
    ).p_nulls;
    EXECUTE format(
        'ANALYZE %s (%s)',
        p_block_table,
        (SELECT string_agg(quote_ident(k.name), ', ') FROM unnest(p_key) AS k (name))
    );
END
$fill_block_table$;

COMMENT ON FUNCTION omd_lineage._fill_block_table IS
'Creates the temporary table p_block_table with the rows of the view p_view for which p_condition '
'(on v) holds, typed and stamped as rows of p_table_code, by _insert_transform. Returns p_columns,'
' the columns to write; p_order, the columns of the base table''s position p_position that the '
'view has, which the destination may lack; p_nulls, the counts of NULLs. Errors: OM207: the view '
'or the table is missing, or the table lacks a column of the view, or one of both a column of '
'p_key. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._fill_block_table TO omd_runner;
