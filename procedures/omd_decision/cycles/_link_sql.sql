-- The planner drops the other links of the union, since their numbers are constants.

CREATE OR REPLACE FUNCTION omd_decision._link_sql(
    p_definition jsonb,
    p_number integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $link_sql$
BEGIN
    RETURN format(
        'SELECT u.w::text, %s COLLATE "C", %s, %s, u.a, to_jsonb(u.r%s)'
        ' FROM (%s) AS u WHERE u.l = %s ORDER BY 2, 3, u.a NULLS FIRST',
        coalesce(
            (
                SELECT omd_decision._sort_key_sql('u.w', o.family, 'ASC')
                FROM omd_decision._order_columns(p_definition) AS o
                WHERE o.place = 0
            ),
            quote_literal('')
        ),
        omd_decision._wave_sort_key_sql(p_definition, 'u'),
        omd_decision._key_sql(p_definition, 'u'),
        p_number,
        omd_decision._records_sql(p_definition),
        p_number
    );
END
$link_sql$;

COMMENT ON FUNCTION omd_decision._link_sql IS
'Returns a SELECT of the records of the link p_number of the stage document p_definition, in '
'order: wave, its sort key, sort key, key, arrival and record. Its parameters are those of '
'_records_sql. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._link_sql TO omd_reader, omd_runner;
