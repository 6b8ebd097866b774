-- Takes a topic for one step, if nobody else has it. Answers no outcome when it is taken. The
-- caller holds it until the end of his transaction; start_step makes that last.

CREATE OR REPLACE FUNCTION omd_lineage._claim_topic(
    p_topic text,
    p_engine text,
    OUT topic_id integer,
    OUT module_code text,
    OUT processor text,
    OUT is_planned boolean,
    OUT start_value timestamptz,
    OUT start_id bigint,
    OUT end_value timestamptz,
    OUT end_id bigint,
    OUT outcome text,
    OUT detail text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_topic$
DECLARE
    v_topic record;
    v_offset omd_lineage.offsets;
    v_window record;
BEGIN
    PERFORM omd.require_read_committed();
    topic_id := omd_lineage._require_topic(p_topic);
    SELECT t.*, m.module_code AS code, m.inactive_indicator AS module_inactive INTO v_topic
    FROM omd_lineage.topic AS t
    LEFT JOIN omd.module AS m ON t.module_id = m.module_id
    WHERE t.topic_id = _claim_topic.topic_id;
    IF v_topic.processor IS NULL OR v_topic.engine <> p_engine THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', p_topic,
                'problem', CASE
                    WHEN v_topic.processor IS NULL THEN 'it is a source and has no steps'
                    ELSE 'its transforms run on ' || v_topic.engine
                END
            )
        );
    END IF;
    module_code := v_topic.code;
    processor := v_topic.processor;

    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o
    WHERE o.topic_id = _claim_topic.topic_id
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        outcome := 'MUTEX';
        detail := 'somebody else is planning it or ending it';
        RETURN;
    ELSIF omd_lineage._holder_lives(v_offset.hostid, v_offset.module_instance_id) THEN
        outcome := 'MUTEX';
        detail := 'held by ' || v_offset.hostid;
        RETURN;
    ELSIF v_topic.inactive_indicator = 'Y' OR v_topic.module_inactive = 'Y' THEN
        outcome := 'SKIPPED';
        detail := 'inactive';
        RETURN;
    ELSIF v_offset.attempts >= 10 THEN
        outcome := 'FAILED';
        detail := v_offset.state;
        RETURN;
    END IF;

    -- Freed by hand while it ran: from here on it can neither write nor commit.
    IF v_offset.module_instance_id IS NOT NULL AND v_offset.hostid = '' THEN
        BEGIN
            PERFORM omd.fail_module_instance(
                mi.module_instance_id, 'the topic was taken from this run', 'RELEASED'
            )
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = v_offset.module_instance_id
                AND mi.execution_status_code = 'E';
        EXCEPTION
            -- It has found out by itself, and ended a moment ago.
            WHEN SQLSTATE 'OM101' THEN
                NULL;
        END;
    END IF;

    -- An administrator's R on a step that succeeded: back to where its block has started. The first
    -- look spares the usual step the rest; its condition is that of the index of what is open.
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_id = v_topic.module_id
        AND (
            mi.execution_status_code = 'E'
            OR mi.next_run_indicator = 'C'
            OR (
                (mi.execution_status_code = 'F' OR mi.next_run_indicator = 'R')
                AND mi.rolled_back_by_module_instance_id IS NULL
            )
        )
    LIMIT 1;
    IF FOUND THEN
        SELECT sc.start_value, sc.start_id INTO v_window
        FROM omd.module_instance AS mi
        INNER JOIN omd.source_control AS sc USING (module_instance_id)
        WHERE mi.module_instance_id = ANY(omd.pending_rollback(v_topic.module_id))
            AND mi.execution_status_code = 'S'
        ORDER BY mi.module_instance_id
        LIMIT 1;
        IF FOUND THEN
            UPDATE omd_lineage.offsets AS o SET
                last = ROW(v_window.start_value, v_window.start_id),
                next = NULL,
                quiet_start = NULL,
                waited_for = NULL,
                attempts = 0
            WHERE o.topic_id = _claim_topic.topic_id
            RETURNING o.* INTO v_offset;
        END IF;
    END IF;

    start_value := (coalesce(v_offset.quiet_start, v_offset.last)).ts;
    start_id := (coalesce(v_offset.quiet_start, v_offset.last)).id;
    end_value := (v_offset.next).ts;
    end_id := (v_offset.next).id;
    is_planned := v_offset.next IS NOT NULL;
END
$claim_topic$;

COMMENT ON FUNCTION omd_lineage._claim_topic IS
'Takes the topic p_topic, whose transforms run on p_engine, until the transaction ends. Answers '
'its id, Module and processor, and the block (start_value and start_id, end_value and end_id] '
'where is_planned; or '
'an outcome and a detail when it can''t be taken: MUTEX, SKIPPED, FAILED. Errors: OM005, OM014, '
'OM015, OM208. Locks: the offset, without waiting. SQL ETL scheduler, "SCH.Offsets".';
REVOKE ALL ON FUNCTION omd_lineage._claim_topic FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._claim_topic TO omd_runner;
