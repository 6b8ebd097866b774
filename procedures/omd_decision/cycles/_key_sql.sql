-- A key is known by the names of its columns.

CREATE OR REPLACE FUNCTION omd_decision._key_sql(
    p_definition jsonb,
    p_alias text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            'jsonb_build_object('
            || string_agg(
                format('%L, %s.%s', o.column_name, p_alias, o.alias), ', ' ORDER BY o.place
            ) FILTER (WHERE o.place > 0)
            || ')',
            'NULL::jsonb'
        )
    FROM omd_decision._order_columns(p_definition) AS o;
END;

COMMENT ON FUNCTION omd_decision._key_sql IS
'Returns an SQL expression for the key, as an object, of a row p_alias of _records_sql; NULL in '
'BATCH. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._key_sql TO omd_reader, omd_runner;
