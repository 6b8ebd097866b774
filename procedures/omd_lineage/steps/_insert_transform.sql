-- The statement is built from the columns that view and table have in common, since a view knows
-- nothing of the run. A view that selects all columns of a table which OMD has loaded brings the
-- stamp of another run along; with it an undo would miss the rows, so the stamp of this run wins.
-- NULLs are counted only where the table allows them: the count is useful, but
-- costs a second pass over the rows. The function runs with the rights of the caller.
--
-- To plan the statement takes longer than a few rows, so the session keeps the plan for small
-- blocks. A plan that is right for one row can be very wrong for a thousand, so it is kept for
-- blocks of the same order of magnitude only, and a large block is planned each time.

CREATE OR REPLACE FUNCTION omd_lineage._insert_transform(
    p_view text,
    p_table_code text,
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_record_source text,
    p_condition text DEFAULT 'TRUE',
    p_rows_input bigint DEFAULT NULL,
    OUT p_row_count bigint,
    OUT p_nulls jsonb
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $insert_transform$
DECLARE
    v_view regclass := to_regclass(p_view);
    v_table regclass := to_regclass(p_table_code);
    v_problem text;
    v_columns text;
    v_values text;
    v_nullable text;
    v_checks text[];
    v_failing text;
    v_statement text;
    v_magnitude integer := CASE
        WHEN p_rows_input BETWEEN 1 AND 9999 THEN length(p_rows_input::text) - 1
    END;
BEGIN
    v_problem := CASE
        WHEN v_view IS NULL THEN format('there is no view %s', p_view)
        WHEN v_table IS NULL THEN format('there is no table %s', p_table_code)
    END;
    IF v_problem IS NULL THEN
        SELECT
            min(format('%s has no column "%s"', p_table_code, c.name))
            FILTER (WHERE c.is_missing AND NOT c.is_check),
            coalesce(array_agg(c.name::text ORDER BY c.n) FILTER (WHERE c.is_check), '{}'),
            string_agg(quote_ident(c.name), ', ' ORDER BY c.n) FILTER (WHERE NOT c.is_check),
            string_agg(c.value, ', ' ORDER BY c.n) FILTER (WHERE NOT c.is_check),
            string_agg(
                format('%L, nullif(count(*) FILTER (WHERE n.%I IS NULL), 0)', c.name, c.name),
                ', ' ORDER BY c.n
            ) FILTER (WHERE c.is_nullable)
        INTO v_problem, v_checks, v_columns, v_values, v_nullable
        FROM (
            SELECT
                coalesce(d.attname, v.attname) AS name,
                coalesce(d.attnum, v.attnum) AS n,
                s.value IS NULL AND v.attname IS NOT NULL AND NOT d.attnotnull AS is_nullable,
                d.attname IS NULL AS is_missing,
                d.attname IS NULL AND omd_lineage._is_check(v.attname, v.atttypid) AS is_check,
                coalesce(s.value, 'v.' || quote_ident(v.attname)) AS value
            FROM (
                SELECT a.attname, a.attnum, a.attnotnull FROM pg_attribute AS a
                WHERE a.attrelid = v_table AND a.attnum > 0 AND NOT a.attisdropped
            ) AS d
            FULL JOIN (
                SELECT a.attname, a.attnum, a.atttypid FROM pg_attribute AS a
                WHERE a.attrelid = v_view AND a.attnum > 0 AND NOT a.attisdropped
            ) AS v ON d.attname = v.attname
            LEFT JOIN (
                VALUES
                (p_insert_instance_column, '$1'),
                ('omd_insert_datetime', 'clock_timestamp()'),
                ('omd_record_source', '$2')
            ) AS s (name, value) ON d.attname = s.name
        ) AS c
        WHERE c.value IS NOT NULL;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM207', jsonb_build_object('transform', p_view, 'problem', v_problem)
        );
    END IF;

    v_statement := format(
        'INSERT INTO %s AS d (%s) SELECT %s FROM %s AS v WHERE %s',
        v_table, v_columns, v_values, CASE WHEN v_checks = '{}' THEN v_view::text ELSE 's' END,
        CASE WHEN v_checks = '{}' THEN p_condition ELSE 'TRUE' END
    );
    IF v_nullable IS NULL AND v_magnitude IS NULL AND v_checks = '{}' THEN
        EXECUTE v_statement USING p_module_instance_id, p_record_source;
        GET DIAGNOSTICS p_row_count = ROW_COUNT;
        p_nulls := '{}';
        RETURN;
    END IF;
    IF v_checks <> '{}' THEN
        v_failing := (
            SELECT
                string_agg(
                    format('%1$L, nullif(count(*) FILTER (WHERE NOT s.%1$I), 0)', c.name), ', '
                )
            FROM unnest(v_checks) AS c (name)
        );
    END IF;
    v_statement := format(
        'WITH %sn AS (%s RETURNING %s) SELECT count(*), jsonb_strip_nulls(jsonb_build_object(%s)%s)'
        ' FROM n',
        CASE
            WHEN v_failing IS NOT NULL
                THEN format('s AS (SELECT v.* FROM %s AS v WHERE %s), ', v_view, p_condition)
        END,
        v_statement,
        CASE WHEN v_nullable IS NULL THEN 'NULL' ELSE 'd.*' END,
        v_nullable,
        ' || (SELECT jsonb_build_object(' || v_failing || ') FROM s)'
    );
    IF v_magnitude IS NULL THEN
        EXECUTE v_statement INTO p_row_count, p_nulls USING p_module_instance_id, p_record_source;
    ELSE
        EXECUTE format(
            'EXECUTE %s (%s, %L)',
            omd_lineage._kept_statement(
                p_view,
                format('(bigint, text) AS %s /* 10^%s rows */', v_statement, v_magnitude)
            ),
            p_module_instance_id, p_record_source
        )
        INTO p_row_count, p_nulls;
    END IF;
END
$insert_transform$;

COMMENT ON FUNCTION omd_lineage._insert_transform IS
'Inserts the rows of the view p_view (v) for which p_condition holds into p_table_code, column by '
'column name. p_rows_input: the number of rows of the block, for which the session may keep the '
'plan; NULL: it does not. It adds p_module_instance_id in p_insert_instance_column, and '
'omd_insert_datetime and omd_record_source (p_record_source) where the table has them, whatever '
'the view has under these names. Returns p_row_count, the number of rows, and p_nulls, the number '
'of NULLs for each column that has any, and of rows for which a check of the view is false. '
'Errors: OM207: the view or the table is missing, or the table lacks a column of the view. Locks: '
'the rows.';
GRANT EXECUTE ON FUNCTION omd_lineage._insert_transform TO omd_runner;
