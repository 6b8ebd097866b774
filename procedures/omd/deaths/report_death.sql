-- A process that was killed can't report its end, and its lease holds for minutes. Who runs on the
-- same machine can see that the process is gone; what is proven needs no guess. The row lock waits
-- for a fence that is on its way to its COMMIT, but never long: a session that hangs holds it.

CREATE OR REPLACE FUNCTION omd.report_death(
    p_instance_type text,
    p_instance_id bigint,
    p_evidence jsonb
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $report_death$
DECLARE
    v_keys CONSTANT text[] := '{host,boot_id,pid_namespace,pid,start_time}'::text[];
    v_run record;
    v_detail text;
BEGIN
    p_instance_type := omd.require_argument('p_instance_type', p_instance_type);
    p_instance_id := omd.require_argument('p_instance_id', p_instance_id);
    p_evidence := omd.require_argument('p_evidence', p_evidence);
    IF p_instance_type NOT IN ('MODULE', 'BATCH') THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_instance_type',
                'value', p_instance_type,
                'expected', 'MODULE or BATCH'
            )
        );
    ELSIF jsonb_typeof(p_evidence) <> 'object' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_evidence',
                'value', left(p_evidence::text, 200),
                'expected', 'a JSON object'
            )
        );
    END IF;

    BEGIN
        IF p_instance_type = 'MODULE' THEN
            SELECT mi.execution_status_code, mi.execution_context, mi.started_by INTO v_run
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = p_instance_id AND mi.module_id IS NOT NULL
            FOR NO KEY UPDATE;
        ELSE
            SELECT bi.execution_status_code, bi.execution_context, bi.started_by INTO v_run
            FROM omd.batch_instance AS bi
            WHERE bi.batch_instance_id = p_instance_id AND bi.batch_id IS NOT NULL
            FOR NO KEY UPDATE;
        END IF;
    EXCEPTION
        WHEN lock_not_available THEN
            RETURN FALSE;
    END;
    IF v_run.execution_status_code IS NULL THEN
        IF p_instance_type = 'MODULE' THEN
            PERFORM omd.raise_error(
                'OM004', jsonb_build_object('module_instance_id', p_instance_id)
            );
        END IF;
        PERFORM omd.raise_error('OM003', jsonb_build_object('batch_instance_id', p_instance_id));
    ELSIF v_run.execution_status_code <> 'E' THEN
        RETURN TRUE;
    ELSIF NOT omd._may_be_proven_dead(
        v_run.execution_context, v_run.started_by, p_evidence, v_keys
    )
    THEN
        RETURN FALSE;
    END IF;

    v_detail := format(
        'the run was declared dead because its process is gone: pid %s on %s',
        p_evidence ->> 'pid',
        p_evidence ->> 'host'
    ) || coalesce(' (' || left(p_evidence ->> 'seen', 100) || ')', '');
    IF p_instance_type = 'MODULE' THEN
        PERFORM omd.fail_module_instance(p_instance_id, v_detail, 'GIVEN UP');
        RETURN TRUE;
    END IF;
    -- What it has called would end with it, and each of them has to be proven dead by itself.
    IF EXISTS (
        SELECT FROM omd.module_instance AS mi
        WHERE mi.batch_instance_id = p_instance_id
            AND mi.batch_instance_id <> 0
            AND mi.execution_status_code = 'E'
    ) OR EXISTS (
        SELECT FROM omd.batch_instance AS bi
        WHERE bi.parent_batch_instance_id = p_instance_id
            AND bi.parent_batch_instance_id <> 0
            AND bi.execution_status_code = 'E'
    )
    THEN
        RETURN FALSE;
    END IF;
    PERFORM omd._fail_batch_instance(p_instance_id, v_detail, 'GIVEN UP');
    RETURN TRUE;
END
$report_death$;

COMMENT ON FUNCTION omd.report_death IS
'For the driver: '
'Declares a run dead whose process is proven to be gone, and returns whether it executes no more. '
'p_instance_type: MODULE or BATCH. p_instance_id: its instance. p_evidence: what the caller has '
'seen, as JSON: host, boot_id, pid_namespace, pid and start_time of the process that is gone, on '
'whose machine the caller runs; seen may say in words how. It is believed when the same role began '
'the run, its execution context has the same five, and says that its writers are FENCED: no '
'statement, child or executor of it can write any more. Else it returns FALSE, and the lease '
'holds; so it does for a Batch of which a member executes, and where a session holds the run for a '
'second. A run that has ended returns TRUE. Errors: OM003, OM004, OM005, OM013, OM101. Locks: the '
'instance row; then the state of the Module. Call again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd.report_death TO omd_runner;
