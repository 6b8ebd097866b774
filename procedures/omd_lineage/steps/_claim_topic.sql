-- The lock on the offset lasts until the transaction of the caller ends; _start_step makes the
-- claim outlive it. The lock is never waited for, since a session that holds it is about to run the
-- topic or to end its step.

CREATE OR REPLACE FUNCTION omd_lineage._claim_topic(
    p_topic text,
    p_engine text,
    OUT p_topic_id integer,
    OUT p_module_code text,
    OUT p_is_planned boolean,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_restatement_id bigint,
    OUT p_undone_array bigint[],
    OUT p_outcome text,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $claim_topic$
DECLARE
    v_topic record;
    v_look record;
    v_offset omd_lineage.offsets;
    v_pending bigint[] := '{}'::bigint[];
    v_back omd_lineage.row_position;
    v_restated record;
    v_returned record;
BEGIN
    -- The test here saves most steps a call.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    IF p_engine IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_engine'));
    END IF;
    -- Another spelling of its name is looked for only where this one is none.
    SELECT
        t.topic_id, t.processor, t.engine, t.inactive_indicator, t.module_id, m.module_code,
        m.inactive_indicator AS module_inactive,
        EXISTS (
            SELECT FROM omd_lineage.dependency AS d
            WHERE d.topic_id = t.topic_id AND d.ordinal = 1 AND d.source_kind_code = 'FACTS'
        ) AS reads_facts
    INTO v_topic
    FROM omd_lineage.topic AS t
    LEFT JOIN omd.module_target AS m USING (module_id)
    WHERE t.topic_id = coalesce(
            (SELECT n.topic_id FROM omd_lineage.topic AS n WHERE n.topic = p_topic),
            omd_lineage._require_topic(p_topic)
        );
    p_topic_id := v_topic.topic_id;
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
    p_module_code := v_topic.module_code;

    -- The newest version of the row comes first when it is read backwards, as omd.heartbeat says.
    SELECT o.* INTO v_offset
    FROM omd_lineage.offsets AS o
    WHERE o.topic_id BETWEEN p_topic_id AND p_topic_id
    ORDER BY o.topic_id DESC
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        p_outcome := 'MUTEX';
        p_detail := 'another session plans or ends a step of it';
        RETURN;
    ELSIF omd_lineage._holder_lives(v_offset.hostid, v_offset.module_instance_id) THEN
        p_outcome := 'MUTEX';
        p_detail := 'held by ' || v_offset.hostid;
        RETURN;
    ELSIF v_topic.inactive_indicator = 'Y' OR v_topic.module_inactive = 'Y' THEN
        p_outcome := 'SKIPPED';
        p_detail := 'inactive';
        RETURN;
    ELSIF v_topic.reads_facts AND omd_lineage._is_closed(p_topic_id) THEN
        p_outcome := 'NOJOBS';
        p_detail := 'rows of its base table are being taken back';
        RETURN;
    END IF;
    -- These looks are cheap, and most steps need no more than one statement for all of them.
    SELECT
        EXISTS (SELECT FROM omd.awaited()) AS is_awaited,
        EXISTS (SELECT FROM omd.open_module_instances(v_topic.module_id)) AS is_open,
        EXISTS (
            SELECT FROM omd.open_window AS w WHERE w.module_id = v_topic.module_id
        ) AS is_returned,
        EXISTS (
            SELECT FROM omd_lineage.restatement AS r WHERE r.topic_id = p_topic_id
        ) AS is_restated
    INTO v_look;
    IF v_look.is_awaited THEN
        p_detail := 'waits for ' || omd_lineage._awaits(p_topic_id);
        IF p_detail IS NOT NULL THEN
            p_outcome := 'NOJOBS';
            RETURN;
        END IF;
    END IF;

    -- The topic was released by hand while its run executed, and that run can neither write nor
    -- commit any more.
    IF v_offset.module_instance_id IS NOT NULL AND v_offset.hostid = '' THEN
        v_look.is_open := TRUE;
        BEGIN
            PERFORM omd.fail_module_instance(
                v_offset.module_instance_id, 'the topic was released from this run', 'RELEASED'
            )
            FROM omd.instance_state(v_offset.module_instance_id) AS i
            WHERE i.execution_status_code = 'E';
        EXCEPTION
            -- The run has found out by itself and has just ended.
            WHEN SQLSTATE 'OM101' THEN
                NULL;
        END;
    END IF;

    -- An administrator has set R on a step that succeeded: the offset goes back to the start of its
    -- block, since the begin that follows undoes its rows. Or a range is to be taken again.
    IF v_look.is_open THEN
        v_pending := omd.pending_rollback(v_topic.module_id);
        SELECT i.start_value, i.start_id INTO v_back.pos, v_back.id
        FROM unnest(v_pending) AS p (id)
        CROSS JOIN LATERAL omd.instance_state(p.id) AS i
        WHERE i.execution_status_code = 'S' AND i.start_value IS NOT NULL
        ORDER BY i.start_value, i.start_id
        LIMIT 1;
    END IF;
    -- What a recall took back comes before all else.
    IF v_back.pos IS NULL AND v_look.is_returned THEN
        v_returned := omd_lineage._claim_return(p_topic_id);
        IF v_returned.p_is_returned THEN
            p_start_pos := v_returned.p_start_pos;
            p_start_id := v_returned.p_start_id;
            p_end_pos := v_returned.p_end_pos;
            p_end_id := v_returned.p_end_id;
            p_is_planned := TRUE;
            UPDATE omd_lineage.offsets AS o SET restatement_id = NULL
            WHERE o.topic_id = p_topic_id AND o.restatement_id IS NOT NULL;
            RETURN;
        END IF;
        -- The offset may have gone back.
        SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id;
    END IF;
    IF v_back.pos IS NULL AND v_look.is_restated THEN
        v_restated := omd_lineage._claim_restatement(p_topic_id);
        IF v_restated.p_goes_back THEN
            v_back := ROW(v_restated.p_start_pos, v_restated.p_start_id);
        END IF;
        p_restatement_id := v_restated.p_restatement_id;
        p_undone_array := v_restated.p_former_array;
    END IF;
    IF v_back.pos IS NOT NULL THEN
        p_undone_array := omd_lineage._go_back(p_topic_id, v_back, v_pending);
        SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id;
    ELSIF p_undone_array IS NOT NULL THEN
        p_start_pos := v_restated.p_start_pos;
        p_start_id := v_restated.p_start_id;
        p_end_pos := v_restated.p_end_pos;
        p_end_id := v_restated.p_end_id;
        p_is_planned := TRUE;
    END IF;
    IF v_offset.restatement_id IS DISTINCT FROM p_restatement_id THEN
        UPDATE omd_lineage.offsets AS o SET restatement_id = p_restatement_id
        WHERE o.topic_id = p_topic_id;
    END IF;
    IF p_is_planned THEN
        RETURN;
    END IF;

    p_start_pos := (coalesce(v_offset.quiet_start, v_offset.last)).pos;
    p_start_id := (coalesce(v_offset.quiet_start, v_offset.last)).id;
    p_end_pos := (v_offset.next).pos;
    p_end_id := (v_offset.next).id;
    p_is_planned := v_offset.next IS NOT NULL;
    -- An undo has reached over the end of the block since, so it is planned anew.
    IF p_is_planned AND NOT omd_lineage._block_stands(p_topic_id, p_end_id) THEN
        UPDATE omd_lineage.offsets AS o SET next = NULL WHERE o.topic_id = p_topic_id;
        p_is_planned := FALSE;
    END IF;
END
$claim_topic$;

COMMENT ON FUNCTION omd_lineage._claim_topic IS
'Claims the topic p_topic, whose transforms run on p_engine, until the transaction ends. Returns '
'p_topic_id, p_module_code and, if p_is_planned, the planned block (p_start_pos and p_start_id, '
'p_end_pos and p_end_id]. p_restatement_id: the step serves this range, which is taken again. '
'p_undone_array: Module Instances that the step undoes besides those that are pending. When the '
'topic can''t be claimed, it returns p_outcome (MUTEX or SKIPPED) and p_detail. Errors: '
'OM005: p_topic or p_engine is NULL; OM014: the isolation level is not read committed; OM015: '
'p_topic is not registered; OM208: it has no steps on p_engine. Locks: the offset, without '
'waiting.';
GRANT EXECUTE ON FUNCTION omd_lineage._claim_topic TO omd_runner;
