-- What a topic has made of a table has values of it.

CREATE OR REPLACE FUNCTION omd_lineage.targets_of(
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
    SELECT DISTINCT t.table_code
    FROM omd_lineage.dependency AS d
    INNER JOIN omd_lineage.topic AS t USING (topic_id)
    WHERE d.table_code = ANY(p_relations)
    ORDER BY t.table_code;
END
$targets_of$;

COMMENT ON FUNCTION omd_lineage.targets_of IS
'For rooms: Returns the tables that topics make of one of p_relations. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage.targets_of FROM PUBLIC;
