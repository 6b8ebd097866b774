-- What users may do with views stays, when a view is made anew.

CREATE OR REPLACE FUNCTION omd_facts._kept_grants(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $kept_grants$
BEGIN
    RETURN QUERY
    SELECT
        format(
            'GRANT %s ON %I.%I TO %s%s',
            a.privilege_type,
            n.nspname,
            c.relname,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
            CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
        )
    FROM omd_facts.interface AS i
    INNER JOIN pg_namespace AS n
        ON n.nspname IN (
            'gdal_' || i.interface_code, 'asof_' || i.interface_code,
            'history_' || i.interface_code
        )
    INNER JOIN pg_class AS c ON n.oid = c.relnamespace AND c.relkind = 'v'
    CROSS JOIN LATERAL aclexplode(c.relacl) AS a
    WHERE i.interface_id = p_interface_id AND a.grantee <> c.relowner;
END
$kept_grants$;

COMMENT ON FUNCTION omd_facts._kept_grants IS
'Returns the statements that grant again what is granted on the views of the interface '
'p_interface_id. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._kept_grants FROM PUBLIC;
