-- A definition and a run look at the outputs by the same rules, since a table may change between
-- them.

CREATE OR REPLACE FUNCTION omd_decision._output_problems(
    p_definition jsonb,
    p_insert_column text
)
RETURNS TABLE (
    path text,
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $output_problems$
BEGIN
    RETURN QUERY
    WITH output AS (
        SELECT
            o.path,
            o.item,
            omd.quote_table(o.item ->> 'table', 'POSTGRES') AS table_code
        FROM omd_decision._named_items(p_definition -> 'outputs', 'outputs', 'name') AS o
    )

    SELECT
        o.path || '.table',
        CASE
            WHEN (parse_ident(o.table_code))[1] ~ '^(omd$|omd_|pg_|information_schema$)'
                THEN format('%s belongs to OMD or PostgreSQL', o.table_code)
            WHEN c.oid IS NULL THEN format('there is no table %s', o.table_code)
            WHEN i.type_name IS NULL
                THEN format('%s has no column "%s"', o.table_code, p_insert_column)
            ELSE format(
                'column "%s" of %s is %s; expected: bigint', p_insert_column, o.table_code,
                i.type_name
            )
        END
    FROM output AS o
    LEFT JOIN pg_class AS c
        ON c.oid = omd.target_relation(o.table_code) AND c.relkind IN ('r', 'p', 'v', 'f')
    LEFT JOIN LATERAL (
        SELECT c.type_name, c.family FROM omd_decision._columns(o.table_code) AS c
        WHERE c.column_name = p_insert_column
    ) AS i ON TRUE
    WHERE o.table_code IS NOT NULL
        AND (
            c.oid IS NULL
            OR i.family IS DISTINCT FROM 'integer'
            OR (parse_ident(o.table_code))[1] ~ '^(omd$|omd_|pg_|information_schema$)'
        )
    UNION ALL
    SELECT
        o.path || '.columns',
        format(
            CASE
                WHEN c.is_generated THEN 'column "%s" of %s is generated'
                ELSE 'there is no column "%s" in %s'
            END,
            n.item #>> '{}',
            o.table_code
        )
    FROM output AS o
    CROSS JOIN LATERAL omd.json_items(o.item -> 'columns') AS n
    LEFT JOIN LATERAL (
        SELECT c.is_generated FROM omd_decision._columns(o.table_code) AS c
        WHERE c.column_name = n.item #>> '{}'
    ) AS c ON TRUE
    WHERE omd.target_exists(o.table_code) AND c.is_generated IS NOT FALSE;
END
$output_problems$;

COMMENT ON FUNCTION omd_decision._output_problems IS
'Returns what the tables of the outputs of the stage document p_definition lack; '
'p_insert_column: the column that tells the run of a row. Locks: none.';
