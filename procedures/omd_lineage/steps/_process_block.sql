-- omd.execute_module executes this as the SQL of the run, so that an error undoes all of it. Log
-- and offset come last, so that the row of the offset is locked for a moment only. The procedure
-- runs with the rights of the caller. It reads no view of OMD: a view would stay locked as long as
-- the transforms take.

CREATE OR REPLACE PROCEDURE omd_lineage._process_block(
    p_topic text,
    p_module_instance_id bigint,
    p_plan_number bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $process_block$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
    v_step record;
    v_indicator text;
    v_statement text;
    v_rows bigint := 0::bigint;
    v_nulls jsonb := '{}'::jsonb;
    v_inserted record;
    v_replaced record;
    v_base_table oid;
    v_method text;
    v_reported jsonb;
    v_block_view text;
    v_returned record;
    v_start omd_lineage.row_position;
    v_end omd_lineage.row_position;
BEGIN
    SELECT
        t.*, o.last, o.quiet_start, o.next, o.rows,
        omd.insert_column(t.module_id) AS insert_column,
        (
            SELECT min(d.table_code) FROM omd_lineage.dependency AS d
            WHERE d.topic_id = t.topic_id AND d.ordinal = 1
        ) AS base_table,
        omd_lineage._block_source(t.topic_id) AS source_code,
        r.restatement_id, r.block_start, r.block_end, r.former_array
    INTO v_step
    FROM omd_lineage._offset_of(v_topic_id) AS o
    INNER JOIN omd_lineage.topic AS t USING (topic_id)
    LEFT JOIN omd_lineage.restatement AS r ON o.restatement_id = r.restatement_id
    WHERE o.module_instance_id = p_module_instance_id
        AND o.plan_number = p_plan_number;
    IF NOT FOUND THEN
        PERFORM omd_lineage._raise_fenced(p_module_instance_id, p_plan_number);
    END IF;

    v_returned := omd_lineage._returned_block(p_module_instance_id);
    IF v_returned.p_end IS NOT NULL THEN
        v_step.block_start := v_returned.p_start;
        v_step.block_end := v_returned.p_end;
    END IF;
    -- The source is held before all else, until the rows of the step are committed.
    IF v_step.source_code IS NOT NULL THEN
        v_block_view := omd.block_view(v_step.base_table);
        v_start := coalesce(
            CASE WHEN v_step.block_end IS NOT NULL THEN v_step.block_start END,
            v_step.quiet_start, v_step.last
        );
        v_end := coalesce(v_step.block_end, v_step.next);
        -- A RELOAD reads all rows as of the end of the block, and none of the block alone.
        IF v_step.processor = 'RELOAD' THEN
            v_start := v_end;
        END IF;
        CALL omd.open_block(v_step.source_code, v_start.pos, v_start.id, v_end.id);
    END IF;
    -- A block that is taken again is another one than the planned block, whose rows these are.
    IF v_step.block_end IS NOT NULL THEN
        v_step.rows := NULL;
        CALL omd_lineage._write_block(v_step.topic, v_step.block_start, v_step.block_end);
    ELSE
        CALL omd_lineage._write_block(
            v_step.topic, coalesce(v_step.quiet_start, v_step.last), v_step.next
        );
    END IF;
    IF v_step.former_array IS NOT NULL THEN
        PERFORM omd_lineage._widen_restatements(
            v_step.restatement_id, v_step.table_code, v_step.insert_column, v_step.former_array
        );
        CALL omd.undo_instances(p_module_instance_id, v_step.former_array, v_indicator);
    END IF;
    FOREACH v_statement IN ARRAY v_step.before_sql LOOP
        EXECUTE v_statement;
    END LOOP;
    IF v_step.processor = 'RELOAD' THEN
        v_inserted := omd_lineage._reload_table(
            v_step.transforms, v_step.table_code, v_step.insert_column,
            p_module_instance_id, v_step.topic, v_step.reload_method
        );
        v_rows := v_inserted.p_row_count;
        v_nulls := v_inserted.p_nulls;
        v_method := v_inserted.p_method;
    ELSIF v_step.processor = 'STEP' THEN
        v_base_table := omd_lineage._require_block_views(
            v_step.topic, v_step.base_table, v_step.transforms, v_step.recompute_key IS NOT NULL,
            v_block_view
        );
        IF num_nonnulls(v_step.merge_key, v_step.recompute_key) > 0 THEN
            v_replaced := omd_lineage._replace_block(
                v_step.topic_id, v_step.transforms, v_step.merge_key, v_step.recompute_key,
                v_step.table_code, v_step.insert_column, p_module_instance_id, v_step.topic
            );
            v_rows := v_replaced.p_inserted + v_replaced.p_updated;
            v_nulls := v_replaced.p_nulls;
        ELSE
            FOREACH v_statement IN ARRAY v_step.transforms LOOP
                v_inserted := omd_lineage._insert_transform(
                    v_statement, v_step.table_code, v_step.insert_column, p_module_instance_id,
                    v_step.topic,
                    -- These statements may set something for the planner.
                    p_rows_input => CASE WHEN v_step.before_sql = '{}' THEN v_step.rows END
                );
                v_rows := v_rows + v_inserted.p_row_count;
                v_nulls := CASE
                    WHEN v_nulls = '{}' THEN v_inserted.p_nulls
                    ELSE omd_lineage._add_counts(v_nulls, v_inserted.p_nulls)
                END;
            END LOOP;
        END IF;
        -- What the views have read keeps its name from now on, since it is locked.
        IF omd.target_relation(v_step.base_table) IS DISTINCT FROM v_base_table THEN
            PERFORM omd.raise_error(
                'OM213',
                jsonb_build_object(
                    'topic', v_step.topic,
                    'transform', v_step.transforms[1],
                    'table_code', v_step.base_table,
                    'next_command', format('CALL omd_lineage.step(%L);', v_step.topic),
                    'problem', format('%s was renamed during the step', v_step.base_table)
                )
            );
        END IF;
    ELSE
        CALL omd_lineage._call_processor(
            v_step.processor, v_step.topic, v_step.table_code, v_step.insert_column,
            p_module_instance_id, v_rows, v_nulls, v_reported
        );
    END IF;
    FOREACH v_statement IN ARRAY v_step.after_sql LOOP
        EXECUTE v_statement;
    END LOOP;

    IF v_step.former_array IS NOT NULL THEN
        PERFORM omd_lineage._widen_restatements(
            v_step.restatement_id, v_step.table_code, v_step.insert_column,
            ARRAY[p_module_instance_id]
        );
    END IF;
    IF v_replaced IS NULL THEN
        PERFORM omd.tell_row_counts(p_rows_input => v_step.rows, p_rows_inserted => v_rows);
    ELSE
        PERFORM omd.tell_row_counts(
            v_step.rows, v_replaced.p_inserted, v_replaced.p_updated, v_replaced.p_deleted
        );
        PERFORM omd.tell_discarded_rows(v_replaced.p_discarded);
    END IF;
    IF v_reported IS NOT NULL THEN
        PERFORM omd.tell_row_counts(
            v_step.rows, (v_reported ->> 'inserted')::bigint, (v_reported ->> 'updated')::bigint,
            (v_reported ->> 'deleted')::bigint
        );
    END IF;
    PERFORM omd_lineage._advance_offset(p_module_instance_id, p_plan_number, v_rows, v_nulls);
    IF v_method IS NOT NULL THEN
        PERFORM omd_lineage._note_reload(p_module_instance_id, v_method);
    END IF;
END
$process_block$;

COMMENT ON PROCEDURE omd_lineage._process_block IS
'Runs the statements and transforms of the block of the step p_module_instance_id of p_topic and '
'moves the offset, under the fence p_plan_number, in the transaction of the caller. Errors: OM004:'
' there is no such instance of a topic; OM108: the step does not hold its topic any more; OM114: '
'rows of its block of facts are taken back; OM112: '
'former rows of the block can''t be undone; OM117: several rows of a transform have one key; '
'OM118: rows refer to what a RELOAD would remove; OM207: a transform does not fit the destination;'
' OM213: it does not read the base table by blocks; those of the SQL. Locks: what the SQL takes; '
'at the end the offset.';
GRANT EXECUTE ON PROCEDURE omd_lineage._process_block TO omd_runner;
