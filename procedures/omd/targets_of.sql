-- Only Modules that have said what they read are known here.

CREATE OR REPLACE FUNCTION omd.targets_of(
    p_relations text[]
)
RETURNS TABLE (table_code text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $targets_of$
BEGIN
    RETURN QUERY
    SELECT DISTINCT m.table_code
    FROM omd.source_reader AS r
    INNER JOIN omd.module AS m USING (module_id)
    WHERE r.table_code = ANY(p_relations) AND m.table_code IS NOT NULL
    ORDER BY m.table_code;
END
$targets_of$;

COMMENT ON FUNCTION omd.targets_of IS
'For rooms: Returns the targets of Modules that read one of p_relations. Locks: none.';
REVOKE ALL ON FUNCTION omd.targets_of FROM PUBLIC;
