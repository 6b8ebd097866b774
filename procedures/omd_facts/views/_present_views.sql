-- The views that a deployment may have to make anew, before they are.

CREATE OR REPLACE FUNCTION omd_facts._present_views(
    p_interface_id integer
)
RETURNS TABLE (id oid, name text, row_type oid)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $present_views$
BEGIN
    RETURN QUERY
    SELECT c.oid, format('%I.%I', n.nspname, c.relname), c.reltype
    FROM omd_facts.interface AS i
    INNER JOIN pg_namespace AS n
        ON n.nspname IN (
            'gdal_' || i.interface_code, 'asof_' || i.interface_code,
            'history_' || i.interface_code, 'changes_' || i.interface_code, 'gdal'
        )
    INNER JOIN pg_class AS c ON n.oid = c.relnamespace AND c.relkind = 'v'
    WHERE i.interface_id = p_interface_id
        AND c.relowner = 'omd_owner'::regrole
        AND EXISTS (
            SELECT FROM omd_facts.entity AS e
            WHERE e.interface_id = p_interface_id
                AND (
                    n.nspname <> 'gdal'
                    OR c.relname IN (e.generalization_code, e.key_root_code)
                )
        );
END
$present_views$;

COMMENT ON FUNCTION omd_facts._present_views IS
'Returns the views that show facts of the interface p_interface_id now. Locks: none.';
