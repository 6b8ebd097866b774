-- A run that was declared dead may still be writing, and its rows must not be committed. The shared
-- lock keeps the run from ending before the commit, so the check holds until then.

CREATE OR REPLACE PROCEDURE omd.fence(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fence$
DECLARE
    v_instance record;
BEGIN
    SELECT mi.execution_status_code, mi.processing_indicator, mi.lease_expires_at INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id
    FOR SHARE;

    IF NOT FOUND
        OR v_instance.execution_status_code <> 'E'
        OR v_instance.processing_indicator <> 'P'
    THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'write');
    ELSIF v_instance.lease_expires_at < clock_timestamp() THEN
        PERFORM omd.raise_error(
            'OM107',
            jsonb_build_object(
                'instance_type', 'Module Instance', 'instance_id', p_module_instance_id
            )
        );
    END IF;
END
$fence$;

COMMENT ON PROCEDURE omd.fence IS
'For programs: '
'Lets the calling transaction commit rows for a Module Instance only while the run may write: it '
'executes, its indicator is P, and its lease has not expired. Call it last before the commit. '
'Errors: OM004, OM005, OM101, OM102, OM107. Locks: the instance row FOR SHARE.';
GRANT EXECUTE ON PROCEDURE omd.fence TO omd_runner;
