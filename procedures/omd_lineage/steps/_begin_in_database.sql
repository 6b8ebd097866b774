-- What step and a run of the Module have in common. Where no run has begun, a crash of the server
-- could lose only what the next step finds again, so the commit of this transaction does not wait
-- for the disk. The ID of a run must outlive a crash, or it would be given a second time.

CREATE OR REPLACE PROCEDURE omd_lineage._begin_in_database(
    p_topic text,
    p_hostid text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_executable text DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_in_database$
DECLARE
    v_indicator text;
    v_array bigint[];
    v_plan_number bigint;
    v_start_pos timestamptz;
    v_start_id bigint;
    v_end_pos timestamptz;
    v_end_id bigint;
    v_status text;
BEGIN
    CALL omd_lineage.begin_step(
        p_topic, p_hostid, NULL, p_execution_context, 'POSTGRES', p_outcome, p_module_instance_id,
        v_indicator, v_array, p_reason, v_plan_number, v_start_pos, v_start_id, v_end_pos,
        v_end_id, p_detail, p_batch_instance_id, v_status
    );
    IF p_outcome = 'RUN' THEN
        p_executable := format(
            'CALL omd_lineage._process_block(%L, %s, %s)',
            p_topic, p_module_instance_id, v_plan_number
        );
    ELSIF p_outcome = 'NOJOBS' THEN
        PERFORM set_config('synchronous_commit', 'off', TRUE);
    END IF;
END
$begin_in_database$;

COMMENT ON PROCEDURE omd_lineage._begin_in_database IS
'Begins a step of the topic p_topic in the database, as p_hostid, for p_batch_instance_id, with '
'p_execution_context. Returns p_outcome, p_module_instance_id, p_reason and p_detail of '
'begin_step, and p_executable, which processes the block. Errors: those of begin_step. Locks: as '
'begin_step.';
GRANT EXECUTE ON PROCEDURE omd_lineage._begin_in_database TO omd_runner;
