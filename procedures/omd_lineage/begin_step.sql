-- Begins a step: claims the topic, plans its block or takes the planned one, begins its Module, in
-- one transaction. What was planned is recorded before a row is transformed. With the rights of the
-- caller, who reads the base table and undoes what failed.

CREATE OR REPLACE PROCEDURE omd_lineage.begin_step(
    p_topic text,
    p_hostid text DEFAULT NULL,
    p_lease interval DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    p_engine text DEFAULT 'SPARK',
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_instance_array bigint[] DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL,
    INOUT p_plan_number bigint DEFAULT NULL,
    INOUT p_start_value timestamptz DEFAULT NULL,
    INOUT p_start_id bigint DEFAULT NULL,
    INOUT p_end_value timestamptz DEFAULT NULL,
    INOUT p_end_id bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_step$
DECLARE
    v_claim record;
    v_block record;
    v_executable text := 'the transforms of the topic';
BEGIN
    v_claim := omd_lineage._claim_topic(p_topic, p_engine);
    p_outcome := v_claim.outcome;
    p_detail := v_claim.detail;
    IF p_outcome IS NOT NULL THEN
        RETURN;
    END IF;

    IF v_claim.is_planned THEN
        SELECT
            v_claim.start_value AS start_value, v_claim.start_id AS start_id,
            v_claim.end_value AS end_value, v_claim.end_id AS end_id,
            NULL::bigint AS row_count, NULL::boolean AS is_full, NULL::timestamptz AS min_ts,
            NULL::bigint AS max_id, NULL::text AS waited_for
        INTO v_block;
    ELSE
        v_block := omd_lineage._next_block(v_claim.topic_id, FALSE);
        IF v_block.end_value IS NULL THEN
            PERFORM omd_lineage._note_no_jobs(
                v_claim.topic_id, v_block.upto, v_block.is_quiet, v_block.detail
            );
            p_outcome := 'NOJOBS';
            p_detail := v_block.detail;
            RETURN;
        END IF;
    END IF;

    IF p_engine = 'POSTGRES' THEN
        CALL omd.begin_in_database_run(
            v_claim.module_code, NULL, v_executable, p_module_instance_id, p_processing_indicator
        );
    ELSE
        CALL omd.begin_module(
            v_claim.module_code,
            p_execution_context => p_execution_context,
            p_lease => p_lease,
            p_module_instance_id => p_module_instance_id,
            p_processing_indicator => p_processing_indicator,
            p_instance_array => p_instance_array,
            p_reason => p_reason
        );
    END IF;
    IF p_processing_indicator NOT IN ('P', 'R') THEN
        p_outcome := CASE p_processing_indicator WHEN 'C' THEN 'SKIPPED' ELSE 'ABORTED' END;
        p_detail := p_reason;
        PERFORM omd_lineage._write_state(
            v_claim.topic_id, concat_ws(': ', p_outcome, p_reason)
        );
        RETURN;
    END IF;

    p_outcome := 'RUN';
    p_plan_number := omd_lineage._start_step(
        v_claim.topic_id,
        coalesce(
            nullif(p_hostid, ''),
            format(
                '%s of %s',
                pg_backend_pid(),
                coalesce(nullif(current_setting('application_name'), ''), 'somebody')
            )
        ),
        p_module_instance_id, v_block.start_value, v_block.start_id, v_block.end_value,
        v_block.end_id, v_block.row_count, v_block.is_full, v_block.min_ts, v_block.max_id,
        v_block.waited_for, v_claim.is_planned
    );
    p_start_value := v_block.start_value;
    p_start_id := v_block.start_id;
    p_end_value := v_block.end_value;
    p_end_id := v_block.end_id;
END
$begin_step$;

COMMENT ON PROCEDURE omd_lineage.begin_step IS
'Begins a step of the topic p_topic on p_engine, by p_hostid, with the lease p_lease and the '
'context p_execution_context of begin_module. Answers p_outcome: RUN, go on with '
'p_module_instance_id over the block (p_start_value and p_start_id, p_end_value and p_end_id] and '
'end it with commit_step or fail_step and p_plan_number; NOJOBS; MUTEX, somebody else has it; '
'SKIPPED or ABORTED, what the begin of the Module answered; FAILED, after 10 attempts, until '
'retry. p_processing_indicator, p_instance_array and p_reason as begin_module. p_detail says why. '
'For drivers; step does it all in the database. Errors: OM005, OM009, OM011, OM014, OM015, OM201, '
'OM202, OM204, OM205, OM206, OM208. Locks: the offset; the Module row; the target rows of a '
'rollback. SQL ETL scheduler, "Templates".';
REVOKE ALL ON PROCEDURE omd_lineage.begin_step FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.begin_step TO omd_runner;
