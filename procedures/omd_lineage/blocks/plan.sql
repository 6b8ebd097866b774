-- The function calls the planner of a step, so that it shows what a step would do.

CREATE OR REPLACE FUNCTION omd_lineage.plan(
    p_topic text
)
RETURNS TABLE (
    topic text,
    is_planned boolean,
    start_pos timestamptz,
    start_id bigint,
    end_pos timestamptz,
    end_id bigint,
    row_count bigint,
    is_full boolean,
    upto timestamptz,
    blocker text,
    detail text
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plan$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_offset record;
    v_block record;
    v_next omd_lineage.block;
BEGIN
    SELECT
        o.topic, o.quiet_start, o.last, o.next, o.rows, o.is_full, o.waited_for,
        omd_lineage._state_of(o.topic_id) AS state
    INTO v_offset
    FROM omd_lineage.offsets AS o
    WHERE o.topic_id = v_topic_id;
    topic := v_offset.topic;
    is_planned := v_offset.next IS NOT NULL
        AND omd_lineage._block_stands(v_topic_id, (v_offset.next).id);
    v_block := omd_lineage._undo_preview(v_topic_id);
    IF v_block.p_detail IS NOT NULL THEN
        is_planned := FALSE;
        start_pos := v_block.p_start_pos;
        start_id := v_block.p_start_id;
        detail := v_block.p_detail;
        RETURN NEXT;
        RETURN;
    END IF;
    v_block := omd_lineage._next_return(v_topic_id);
    IF v_block.p_former_array IS NOT NULL THEN
        is_planned := v_block.p_stands;
        start_pos := v_block.p_start_pos;
        start_id := v_block.p_start_id;
        end_pos := CASE WHEN v_block.p_stands THEN v_block.p_end_pos END;
        end_id := CASE WHEN v_block.p_stands THEN v_block.p_end_id END;
        detail := coalesce(
            'waits for ' || omd_lineage._awaits(v_topic_id),
            'taken again after a recall: the block of '
            || array_to_string(v_block.p_former_array, ', ')
        );
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT b.* INTO v_block
    FROM omd_lineage.restatement_list AS l
    CROSS JOIN LATERAL omd_lineage._next_restated_block(l.restatement_id) AS b
    WHERE l.topic_id = v_topic_id AND l.is_ready AND b.p_former_array IS NOT NULL
    ORDER BY l.block_start_pos NULLS LAST, l.restatement_id
    LIMIT 1;
    IF FOUND THEN
        is_planned := TRUE;
        start_pos := v_block.p_start_pos;
        start_id := v_block.p_start_id;
        end_pos := v_block.p_end_pos;
        end_id := v_block.p_end_id;
        detail := 'taken again; undone first: '
            || array_to_string(v_block.p_former_array, ', ');
        RETURN NEXT;
        RETURN;
    END IF;
    IF is_planned THEN
        start_pos := (coalesce(v_offset.quiet_start, v_offset.last)).pos;
        start_id := (coalesce(v_offset.quiet_start, v_offset.last)).id;
        end_pos := (v_offset.next).pos;
        end_id := (v_offset.next).id;
        row_count := v_offset.rows;
        is_full := v_offset.is_full;
        blocker := v_offset.waited_for;
        detail := nullif(v_offset.state, '');
    ELSIF EXISTS (
        SELECT FROM omd_lineage.topic AS t
        WHERE t.topic_id = v_topic_id AND t.processor IS NULL
    ) THEN
        detail := 'it is a source, which has no steps';
    ELSE
        v_next := omd_lineage._find_block(v_topic_id, TRUE);
        IF v_next.is_quiet THEN
            v_next.end_pos := NULL;
            v_next.end_id := NULL;
        END IF;
        start_pos := v_next.start_pos;
        start_id := v_next.start_id;
        end_pos := v_next.end_pos;
        end_id := v_next.end_id;
        row_count := v_next.row_count;
        is_full := v_next.is_full;
        upto := v_next.upto;
        blocker := v_next.blocker;
        detail := coalesce(v_next.detail, omd_lineage._plan_detail(v_topic_id));
    END IF;
    RETURN NEXT;
END
$plan$;

COMMENT ON FUNCTION omd_lineage.plan IS
'One row: the block (start_pos and start_id, end_pos and end_id] that the topic p_topic would take'
' now, with the offsets as they are. is_planned is true when the block is recorded already and '
'waits for its retry, or is to be taken again. When an administrator wants steps to be undone '
'first, there is only the start, and detail names them and the topics that have read their rows. '
'When there is no block, detail says why; for a RELOAD it says how the content is replaced. It '
'changes nothing. Errors: OM005: p_topic is NULL; OM015: it is not registered; OM206: a table '
'can''t be read by blocks; OM212: it is locked. Locks: none. See docs/explanation/lineage.md. May '
'be NULL: start_pos, start_id, end_pos, end_id, row_count, is_full, upto, blocker, detail. Call '
'again when the answer was lost.';
GRANT EXECUTE ON FUNCTION omd_lineage.plan TO omd_runner, omd_admin;
