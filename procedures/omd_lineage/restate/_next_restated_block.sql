-- A block is found only when its turn comes, so a step that ran meanwhile, and read the former rows
-- upstream, is taken again too. Windows that overlap (somebody has set the offset back) are one
-- block, so that no row comes twice. A window beyond the offset is left out: the offset was set
-- back to before it, and its rows come as new ones.

CREATE OR REPLACE FUNCTION omd_lineage._next_restated_block(
    p_restatement_id bigint,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_former_array bigint[]
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_restated_block$
DECLARE
    v_range record;
    v_window record;
    v_block_start omd_lineage.row_position;
    v_block_end omd_lineage.row_position;
    v_start omd_lineage.row_position;
    v_end omd_lineage.row_position;
BEGIN
    SELECT r.*, t.module_id, o.last INTO v_range
    FROM omd_lineage.restatement AS r
    INNER JOIN omd_lineage.topic AS t USING (topic_id)
    INNER JOIN omd_lineage.offsets AS o USING (topic_id)
    WHERE r.restatement_id = p_restatement_id;
    -- A planned block stays what it is, so that what is undone is loaded again.
    IF v_range.block_end <= v_range.last THEN
        p_start_pos := (v_range.block_start).pos;
        p_start_id := (v_range.block_start).id;
        p_end_pos := (v_range.block_end).pos;
        p_end_id := (v_range.block_end).id;
        p_former_array := v_range.former_array;
        RETURN;
    END IF;

    FOR v_window IN
        SELECT w.*
        FROM omd.succeeded_windows(
            v_range.module_id,
            (v_range.start_position).pos, (v_range.start_position).id,
            (v_range.last).pos, (v_range.last).id
        ) AS w
        WHERE w.module_instance_id < coalesce(v_range.first_instance_id, 9223372036854775807)
        ORDER BY w.start_value, w.start_id, w.module_instance_id
    LOOP
        v_start := ROW(v_window.start_value, v_window.start_id);
        v_end := ROW(v_window.end_value, v_window.end_id);
        IF v_block_end IS NULL OR v_start >= v_block_end THEN
            EXIT WHEN v_block_end <= v_range.last OR v_start >= v_range.end_position;
            v_block_start := v_start;
            v_block_end := v_end;
            p_former_array := ARRAY[v_window.module_instance_id];
        ELSE
            v_block_end := greatest(v_block_end, v_end);
            p_former_array := p_former_array || v_window.module_instance_id;
        END IF;
    END LOOP;
    IF v_block_end > v_range.last THEN
        p_former_array := NULL;
        RETURN;
    END IF;
    p_start_pos := v_block_start.pos;
    p_start_id := v_block_start.id;
    p_end_pos := v_block_end.pos;
    p_end_id := v_block_end.id;
END
$next_restated_block$;

COMMENT ON FUNCTION omd_lineage._next_restated_block IS
'Returns the next block (p_start_pos and p_start_id, p_end_pos and p_end_id] of the range '
'p_restatement_id, and p_former_array, the Module Instances that have read it and are to be '
'undone; NULLs when there is none left. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._next_restated_block TO omd_runner, omd_admin;
