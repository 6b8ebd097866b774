-- A Module that is a topic is begun by its code.

CREATE OR REPLACE FUNCTION omd_lineage._topic_of(
    p_module_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $topic_of$
BEGIN
    RETURN (
        SELECT t.topic
        FROM omd.module_target AS m
        INNER JOIN omd_lineage.topic AS t USING (module_id)
        WHERE m.module_code = p_module_code
    );
END
$topic_of$;

COMMENT ON FUNCTION omd_lineage._topic_of IS
'Returns the topic whose steps are the runs of the Module p_module_code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._topic_of TO omd_runner;
