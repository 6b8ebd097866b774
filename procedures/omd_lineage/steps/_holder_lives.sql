-- The ready list shows the holder of a topic to roles that can't see the locks of a session, so
-- this is SECURITY DEFINER.

CREATE OR REPLACE FUNCTION omd_lineage._holder_lives(
    p_hostid text,
    p_module_instance_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $holder_lives$
BEGIN
    -- A name without a run was written by hand, and it stays until somebody clears it.
    RETURN p_hostid <> ''
        AND (p_module_instance_id IS NULL OR omd.instance_lives(p_module_instance_id));
END
$holder_lives$;

COMMENT ON FUNCTION omd_lineage._holder_lives IS
'Returns whether p_hostid, which runs p_module_instance_id for a topic, still holds the topic. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._holder_lives TO omd_reader;
