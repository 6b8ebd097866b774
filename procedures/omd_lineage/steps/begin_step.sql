-- One transaction claims the topic, plans its block or takes the planned one, and begins its
-- Module, so that the block is recorded before a row is transformed. All of it is one
-- subtransaction: when it fails, the attempt is recorded instead, so that a topic that can't begin
-- backs off like a topic whose step fails, whatever calls. A mistake of the caller says nothing
-- about the topic, so it is raised. A locked base table is no failure of the topic: it is tried
-- again, however long the lock lasts. The procedure runs with the rights of the caller, who reads
-- the base table and undoes what failed.

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
    INOUT p_start_pos timestamptz DEFAULT NULL,
    INOUT p_start_id bigint DEFAULT NULL,
    INOUT p_end_pos timestamptz DEFAULT NULL,
    INOUT p_end_id bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    p_batch_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_step$
DECLARE
    v_news_at timestamptz;
    v_claim record;
    v_block omd_lineage.block;
    v_hostid text;
    v_executable text := 'the transforms of the topic';
    v_awaited text;
    v_more text;
    v_hint text;
    v_context text;
BEGIN
    v_news_at := omd_lineage._news_at(p_topic);
    v_claim := omd_lineage._claim_topic(p_topic, p_engine);
    p_outcome := v_claim.p_outcome;
    p_detail := v_claim.p_detail;
    IF p_outcome IS NOT NULL THEN
        p_execution_status_code := omd_lineage._status_of_step(p_outcome);
        RETURN;
    END IF;

    IF v_claim.p_is_planned THEN
        PERFORM omd_lineage._newest_row(b.table_code, b.pos_column, b.id_column)
        FROM omd_lineage.base_table AS b
        WHERE b.topic_id = v_claim.p_topic_id
            AND coalesce(b.source_kind_code NOT IN ('FACTS', 'LAKE'), TRUE);
        SELECT
            v_claim.p_start_pos, v_claim.p_start_id, v_claim.p_end_pos, v_claim.p_end_id
        INTO v_block.start_pos, v_block.start_id, v_block.end_pos, v_block.end_id;
    ELSE
        v_block := omd_lineage._find_block(v_claim.p_topic_id, FALSE);
        IF v_block.end_pos IS NULL OR v_block.is_quiet THEN
            PERFORM omd_lineage._undo_later(v_claim.p_undone_array);
            IF v_block.end_pos IS NOT NULL THEN
                PERFORM omd_lineage._pass_rows(
                    v_claim.p_topic_id, v_block.end_pos, v_block.end_id
                );
                v_block.is_quiet := FALSE;
            END IF;
            PERFORM omd_lineage._note_no_jobs(
                v_claim.p_topic_id, v_block.upto, v_block.is_quiet, v_block.detail,
                v_block.is_whole
            );
            PERFORM omd_lineage._note_news(v_claim.p_topic_id, v_news_at);
            p_outcome := 'NOJOBS';
            p_detail := v_block.detail;
            p_execution_status_code := omd_lineage._status_of_step(p_outcome);
            RETURN;
        END IF;
    END IF;

    IF p_engine = 'POSTGRES' THEN
        CALL omd.begin_in_database_run(
            v_claim.p_module_code, p_batch_instance_id, v_executable, p_module_instance_id,
            p_processing_indicator, p_execution_context
        );
    ELSE
        CALL omd.begin_module(
            v_claim.p_module_code,
            p_batch_instance_id => p_batch_instance_id,
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
        p_reason := coalesce(p_reason, omd.reason_of(p_module_instance_id));
        p_detail := p_reason;
        p_execution_status_code := omd_lineage._status_of_step(p_outcome);
        IF v_claim.p_restatement_id IS NULL THEN
            PERFORM omd_lineage._undo_later(v_claim.p_undone_array);
        END IF;
        PERFORM omd_lineage._write_state(
            v_claim.p_topic_id, concat_ws(': ', p_outcome, p_reason)
        );
        RETURN;
    END IF;
    -- A recall may have taken back what it reads while the begin waited for the Module.
    v_awaited := 'waits for ' || omd_lineage._awaits(v_claim.p_topic_id);
    IF v_awaited IS NOT NULL THEN
        RAISE no_data_found;
    END IF;
    -- In PostgreSQL the former rows of a block go in the transaction that brings the new ones.
    IF v_claim.p_undone_array <> '{}'
        AND (p_engine <> 'POSTGRES' OR v_claim.p_restatement_id IS NULL)
    THEN
        CALL omd.undo_instances(
            p_module_instance_id, v_claim.p_undone_array, p_processing_indicator
        );
        p_instance_array := coalesce(p_instance_array, '{}') || v_claim.p_undone_array;
    END IF;

    p_start_pos := v_block.start_pos;
    p_start_id := v_block.start_id;
    p_end_pos := v_block.end_pos;
    p_end_id := v_block.end_id;
    v_hostid := coalesce(
        nullif(p_hostid, ''),
        format(
            '%s of %s',
            pg_backend_pid(),
            coalesce(nullif(current_setting('application_name'), ''), 'somebody')
        )
    );
    p_plan_number := CASE
        WHEN NOT v_claim.p_is_planned THEN NULL
        WHEN v_claim.p_restatement_id IS NOT NULL
            THEN omd_lineage._start_restated_step(
                v_claim.p_topic_id, v_hostid, p_module_instance_id, v_claim.p_restatement_id,
                p_start_pos, p_start_id, p_end_pos, p_end_id
            )
        ELSE omd_lineage._start_returned_step(
            v_claim.p_topic_id, v_hostid, p_module_instance_id, p_start_pos, p_start_id,
            p_end_pos, p_end_id
        )
    END;
    p_outcome := 'RUN';
    p_execution_status_code := omd_lineage._status_of_step(p_outcome);
    IF p_plan_number IS NOT NULL THEN
        RETURN;
    END IF;
    p_plan_number := omd_lineage._start_step(
        v_claim.p_topic_id, v_hostid, p_module_instance_id, p_start_pos, p_start_id, p_end_pos,
        p_end_id, v_block.row_count, v_block.is_full, v_block.min_ts, v_block.max_id,
        v_block.waited_for, v_claim.p_is_planned, v_block.is_whole
    );
EXCEPTION
    WHEN query_canceled OR assert_failure OR OTHERS THEN
        GET STACKED DIAGNOSTICS
            p_reason = RETURNED_SQLSTATE,
            p_detail = MESSAGE_TEXT,
            v_more = PG_EXCEPTION_DETAIL,
            v_hint = PG_EXCEPTION_HINT,
            v_context = PG_EXCEPTION_CONTEXT;
        IF p_reason ~ '^OM0' OR p_reason = 'OM208' THEN
            RAISE;
        END IF;
        p_detail := coalesce(v_awaited, p_detail);
        p_outcome := CASE
            WHEN p_reason = 'OM212' OR v_awaited IS NOT NULL THEN 'NOJOBS'
            ELSE 'ERROR'
        END;
        p_execution_status_code := omd_lineage._status_of_step(p_outcome);
        p_module_instance_id := NULL;
        p_processing_indicator := NULL;
        p_instance_array := NULL;
        p_plan_number := NULL;
        p_start_pos := NULL;
        p_start_id := NULL;
        p_end_pos := NULL;
        p_end_id := NULL;
        IF p_outcome = 'NOJOBS' THEN
            p_reason := NULL;
            IF v_awaited IS NULL THEN
                PERFORM omd_lineage._note_unreadable(v_claim.p_topic_id, p_detail);
                PERFORM omd_lineage._note_news(v_claim.p_topic_id, v_news_at);
            END IF;
            RETURN;
        END IF;
        CALL omd_lineage.note_error(
            p_topic,
            concat_ws(
                E'\n', p_detail, nullif(v_more, ''), nullif(v_hint, ''),
                omd.context_within(v_context, E'omd(_[a-z]+)?\\.[a-z_]+')
            ),
            p_reason
        );
END
$begin_step$;

COMMENT ON PROCEDURE omd_lineage.begin_step IS
'For the driver: '
'Begins a step of the topic p_topic on p_engine (SPARK or POSTGRES), for p_hostid (NULL: the '
'session), with the lease p_lease, the context p_execution_context and the p_batch_instance_id of '
'begin_module. Drivers call it; step does everything in the database. Returns p_outcome: RUN, go '
'on with p_module_instance_id over the block (p_start_pos and p_start_id, p_end_pos and p_end_id] '
'and end it with commit_step or fail_step and p_plan_number; NOJOBS, there is nothing to do, or '
'the base table is locked; MUTEX, another step holds the topic; SKIPPED or ABORTED, the begin of '
'the Module returned this; ERROR, the step could not begin, which counts as an attempt and is in '
'the event log, and p_reason is the SQLSTATE. p_processing_indicator, p_instance_array and '
'p_reason are those of begin_module. p_detail says why. p_execution_status_code: E for RUN, F for '
'ERROR, C for NOJOBS and SKIPPED, A for MUTEX and ABORTED. Errors: OM005: p_topic or p_engine is '
'NULL; OM011: p_lease is not allowed; OM013: p_execution_context is no JSON object, or too large; '
'OM014: the isolation level is not read committed; OM015: p_topic is not registered; OM100; OM208: '
'it has no steps on p_engine. Locks: the offset; the Module row; the target rows of a rollback. '
'See docs/explanation/lineage.md. May be NULL: p_module_instance_id, p_processing_indicator, '
'p_instance_array, p_reason, p_plan_number, p_start_pos, p_start_id, p_end_pos, p_end_id, '
'p_detail.';
GRANT EXECUTE ON PROCEDURE omd_lineage.begin_step TO omd_runner;
