-- What each kind looks at before all else. A directive and the restart of a Batch are left to the
-- begin, since its answer uses them up.

CREATE OR REPLACE FUNCTION omd.why_no_run(
    p_module_code text,
    OUT p_status text,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $why_no_run$
DECLARE
    v_module_id CONSTANT integer := omd._require_module(p_module_code);
BEGIN
    IF EXISTS (
        SELECT FROM omd._executing_module_instances(v_module_id, NULL) AS e (id)
        INNER JOIN omd.module_instance AS mi ON e.id = mi.module_instance_id
        WHERE omd._cause_of_death(
            mi.lease_expires_at, mi.is_session_bound, mi.backend_pid, mi.statement_start,
            mi.processing_indicator, mi.batch_instance_id
        ) IS NULL
    )
    THEN
        p_status := 'A';
        p_detail := 'RUNNING';
    ELSIF EXISTS (
        SELECT FROM omd.module AS m
        WHERE m.module_id = v_module_id AND m.inactive_indicator = 'Y'
    )
    THEN
        p_status := 'C';
        p_detail := 'INACTIVE';
    END IF;
END
$why_no_run$;

COMMENT ON FUNCTION omd.why_no_run IS
'For rooms: Returns why no run of the Module p_module_code would begin now: p_status A and '
'RUNNING, a run of it executes and lives; C and INACTIVE; NULL: one may begin. Errors: OM002, '
'OM005. Locks: none.';
