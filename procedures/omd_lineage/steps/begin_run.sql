-- The part of the kind TOPIC in omd.room_hook.

CREATE OR REPLACE PROCEDURE omd_lineage.begin_run(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    INOUT p_outcome text,
    INOUT p_module_instance_id bigint,
    INOUT p_executable text,
    INOUT p_detail text
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_run$
DECLARE
    v_reason text;
BEGIN
    CALL omd_lineage._begin_in_database(
        omd_lineage._topic_of(p_module_code), NULL, p_batch_instance_id, p_execution_context,
        p_outcome, p_module_instance_id, p_executable, v_reason, p_detail
    );
    -- A cancel says nothing about the topic, and whoever called stops.
    IF v_reason = '57014' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = format('the begin of a step of %s was cancelled', p_module_code),
            DETAIL = jsonb_build_object('module_code', p_module_code)::text,
            HINT = format('CALL omd.run_module(%L);', p_module_code);
    END IF;
    p_outcome := CASE p_outcome
        WHEN 'NOJOBS' THEN 'NOTHING'
        WHEN 'MUTEX' THEN 'BUSY'
        WHEN 'ABORTED' THEN 'BUSY'
        WHEN 'ERROR' THEN 'FAILED'
        ELSE p_outcome
    END;
END
$begin_run$;

COMMENT ON PROCEDURE omd_lineage.begin_run IS
'For rooms: Begins a step of the topic whose Module is p_module_code, as omd.room_hook describes '
'it: p_batch_instance_id and p_execution_context go in; p_outcome, p_module_instance_id, '
'p_executable and p_detail are the answer. Errors: those of begin_step, 57014. Locks: as '
'begin_step.';
GRANT EXECUTE ON PROCEDURE omd_lineage.begin_run TO omd_runner;
