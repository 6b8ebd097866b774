-- Wave and keys together make one text, since the sort key of a wave is no beginning of another
-- one.

CREATE OR REPLACE FUNCTION omd_decision._wave_sort_key_sql(
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
            string_agg(
                omd_decision._sort_key_sql(p_alias || '.' || o.alias, o.family, o.direction),
                ' || ' ORDER BY o.place
            ),
            quote_literal('')
        ) || ' COLLATE "C"'
    FROM omd_decision._order_columns(p_definition) AS o;
END;

COMMENT ON FUNCTION omd_decision._wave_sort_key_sql IS
'Returns an SQL expression for the sort key of wave and keys of a row p_alias of _records_sql. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._wave_sort_key_sql TO omd_reader, omd_runner;
