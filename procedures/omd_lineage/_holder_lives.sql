-- Is somebody at work on a topic?

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
DECLARE
    v_instance record;
BEGIN
    IF p_hostid = '' THEN
        RETURN FALSE;
    END IF;
    SELECT mi.execution_status_code, mi.lease_expires_at, mi.is_session_bound INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
    -- A name without a run was written by hand, and stands until it is cleared.
    RETURN NOT FOUND OR (
        v_instance.execution_status_code = 'E'
        AND coalesce(v_instance.lease_expires_at >= clock_timestamp(), TRUE)
        AND (
            NOT v_instance.is_session_bound
            OR omd.session_lives('MODULE', p_module_instance_id)
        )
    );
END
$holder_lives$;

COMMENT ON FUNCTION omd_lineage._holder_lives IS
'Whether p_hostid, who runs p_module_instance_id for a topic, still holds it: that run executes, '
'its lease has not passed, its session is there. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._holder_lives FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._holder_lives TO omd_reader;
