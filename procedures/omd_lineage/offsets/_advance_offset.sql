-- The offset moves in the transaction of the success, so rows, offset and success become visible
-- together or not at all. A block that is taken again leaves the offset where it is.

CREATE OR REPLACE FUNCTION omd_lineage._advance_offset(
    p_module_instance_id bigint,
    p_plan_number bigint,
    p_rows bigint,
    p_nulls jsonb,
    p_query_id text DEFAULT format(
        'pid %s, transaction %s', pg_backend_pid(), pg_current_xact_id()::xid
    )
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $advance_offset$
DECLARE
    v_step record;
    v_topic_id integer;
    v_is_returned boolean;
    v_former record;
BEGIN
    SELECT
        t.topic_id,
        EXISTS (
            SELECT FROM omd.open_window AS w WHERE w.module_instance_id = p_module_instance_id
        )
    INTO v_topic_id, v_is_returned
    FROM omd.instance_state(p_module_instance_id) AS i
    INNER JOIN omd_lineage.topic AS t USING (module_id);
    IF v_is_returned THEN
        IF NOT omd_lineage._end_returned_step(
            p_module_instance_id, p_plan_number, p_rows, p_nulls, p_query_id
        ) THEN
            PERFORM omd_lineage._raise_fenced(p_module_instance_id, p_plan_number);
        END IF;
        RETURN NULL;
    END IF;
    -- The update clears some of what is read here. The newest version of the row comes first when it
    -- is read backwards, as omd.heartbeat says.
    SELECT o.ctid AS place, o.waited_for, o.restatement_id INTO v_former
    FROM omd_lineage.offsets AS o
    WHERE o.topic_id BETWEEN v_topic_id AND v_topic_id
    ORDER BY o.topic_id DESC
    LIMIT 1
    FOR NO KEY UPDATE;
    UPDATE omd_lineage.offsets AS o SET
        last = o.next,
        is_whole = o.next_is_whole,
        next = NULL,
        quiet_start = NULL,
        restatement_id = NULL,
        waited_for = NULL,
        attempts = 0,
        hostid = '',
        module_instance_id = NULL,
        state = 'DONE',
        run = clock_timestamp(),
        waiting_since = clock_timestamp()
    WHERE o.ctid = v_former.place
        AND o.module_instance_id = p_module_instance_id
        AND o.plan_number = p_plan_number
        AND o.hostid <> ''
        AND o.next IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM omd_lineage.restatement AS r
            WHERE r.restatement_id = o.restatement_id AND r.block_end IS NOT NULL
        )
    RETURNING
        o.topic_id, o.topic, o.rows, o.block_max_id, o.block_min_ts, (o.last).pos AS block_max_ts,
        v_former.waited_for, v_former.restatement_id, o.processor
    INTO v_step;
    IF NOT FOUND THEN
        SELECT o.topic_id INTO v_topic_id
        FROM omd_lineage.offsets AS o
        INNER JOIN omd_lineage.restatement AS r USING (restatement_id)
        WHERE o.module_instance_id = p_module_instance_id
            AND o.plan_number = p_plan_number
            AND o.hostid <> ''
            AND r.block_end IS NOT NULL
        FOR NO KEY UPDATE OF o;
        IF NOT FOUND THEN
            PERFORM omd_lineage._raise_fenced(p_module_instance_id, p_plan_number);
        END IF;
        PERFORM omd_lineage._end_restated_step(
            v_topic_id, p_module_instance_id, p_rows, p_nulls, p_query_id
        );
        PERFORM omd_lineage._end_restatement(v_topic_id);
        RETURN NULL;
    END IF;
    INSERT INTO omd_lineage.log (
        module_instance_id, topic_id, topic, ts, rows, max_id, min_ts, max_ts, nulls, waited_for,
        query_id
    )
    VALUES (
        p_module_instance_id, v_step.topic_id, v_step.topic, clock_timestamp(),
        coalesce(p_rows, 0), v_step.block_max_id, v_step.block_min_ts,
        CASE WHEN v_step.block_min_ts IS NOT NULL THEN v_step.block_max_ts END,
        coalesce(p_nulls, '{}'), v_step.waited_for, p_query_id
    );
    IF v_step.waited_for IS NOT NULL THEN
        PERFORM omd.write_event(
            p_module_instance_id, 0, 6, 'MAX_WAIT',
            format('did not wait longer for %s', v_step.waited_for)
        );
    END IF;
    IF v_step.restatement_id IS NOT NULL THEN
        DELETE FROM omd_lineage.restatement AS r
        WHERE r.restatement_id = v_step.restatement_id;
    END IF;
    -- A RELOAD has brought all that a recall took back of it.
    IF v_step.processor = 'RELOAD' AND EXISTS (SELECT FROM omd.awaited()) THEN
        PERFORM omd.drop_windows(t.module_id)
        FROM omd_lineage.topic AS t
        WHERE t.topic_id = v_step.topic_id;
    END IF;
    PERFORM omd_lineage._notify_topic(v_step.topic);
    RETURN v_step.rows;
END
$advance_offset$;

COMMENT ON FUNCTION omd_lineage._advance_offset IS
'Moves the offset of a topic to the end of its block, for the step p_module_instance_id with the '
'fence p_plan_number, and logs p_rows rows, p_nulls (column: number of NULLs) and p_query_id (by '
'default the backend and the transaction of the caller). The offset stays when the block was taken'
' again. Returns the number of rows of the base table in the block; NULL when it is not known. '
'Errors: OM004: there is no such instance; OM108: the step does not hold its topic any more. '
'Locks: the offset, until the transaction ends.';
GRANT EXECUTE ON FUNCTION omd_lineage._advance_offset TO omd_runner;
