-- What is registered says it better than what a stage knows of its outputs.

CREATE OR REPLACE FUNCTION omd_provenance._tables_of(
    p_subject jsonb
)
RETURNS TABLE (table_code text, columns jsonb, action text, is_keyed boolean)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $tables_of$
BEGIN
    RETURN QUERY
    WITH holder AS MATERIALIZED (
        SELECT h.* FROM omd_provenance._holders(p_subject) AS h
    )

    SELECT h.table_code, h.columns, h.action, FALSE
    FROM holder AS h
    WHERE h.action IS NOT NULL AND h.table_code NOT LIKE 'omd\_dispatch.%'
    UNION ALL
    SELECT o.table_code, o.columns, 'DELETE', TRUE
    FROM omd_decision.outputs_of(
        (
            SELECT jsonb_agg(jsonb_build_object('relations', h.relations, 'columns', h.columns))
            FROM holder AS h
            WHERE h.relations IS NOT NULL
        )
    ) AS o
    WHERE o.columns IS NOT NULL AND NOT EXISTS (
        SELECT FROM holder AS h WHERE h.table_code = o.table_code AND h.action IS NOT NULL
    )
    ORDER BY 1, 2;
END
$tables_of$;

COMMENT ON FUNCTION omd_provenance._tables_of IS
'Returns the tables of users that hold keys of p_subject, with the columns, {column: attribute}, '
'and what is to be done; is_keyed: the columns are properties of omd_key. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._tables_of TO omd_admin;
