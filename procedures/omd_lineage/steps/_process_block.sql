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
    v_step CONSTANT record := omd_lineage._step_to_process(
        p_topic, p_module_instance_id, p_plan_number
    );
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
BEGIN
    IF v_step.p_topic_id IS NULL THEN
        PERFORM omd_lineage._raise_fenced(p_module_instance_id, p_plan_number);
    END IF;
    -- The source is held before all else, until the rows of the step are committed.
    IF v_step.p_source_code IS NOT NULL THEN
        v_block_view := omd.block_view(v_step.p_base_table);
        -- A RELOAD reads all rows as of the end of the block, and none of the block alone.
        CALL omd.open_block(
            v_step.p_source_code,
            CASE v_step.p_processor WHEN 'RELOAD' THEN v_step.p_end_pos ELSE v_step.p_start_pos END,
            CASE v_step.p_processor WHEN 'RELOAD' THEN v_step.p_end_id ELSE v_step.p_start_id END,
            v_step.p_end_id
        );
    END IF;
    CALL omd_lineage._write_block(
        v_step.p_name,
        ROW(v_step.p_start_pos, v_step.p_start_id),
        ROW(v_step.p_end_pos, v_step.p_end_id)
    );
    IF v_step.p_former_array IS NOT NULL THEN
        PERFORM omd_lineage._widen_restatements(
            v_step.p_restatement_id, v_step.p_table_code, v_step.p_insert_column,
            v_step.p_former_array
        );
        CALL omd.undo_instances(p_module_instance_id, v_step.p_former_array, v_indicator);
    END IF;
    FOREACH v_statement IN ARRAY v_step.p_before_sql LOOP
        EXECUTE v_statement;
    END LOOP;
    IF v_step.p_processor = 'RELOAD' THEN
        v_inserted := omd_lineage._reload_table(
            v_step.p_transforms, v_step.p_table_code, v_step.p_insert_column,
            p_module_instance_id, v_step.p_name, v_step.p_reload_method
        );
        v_rows := v_inserted.p_row_count;
        v_nulls := v_inserted.p_nulls;
        v_method := v_inserted.p_method;
    ELSIF v_step.p_processor = 'STEP' THEN
        v_base_table := omd_lineage._require_block_views(
            v_step.p_name, v_step.p_base_table, v_step.p_transforms,
            v_step.p_recompute_key IS NOT NULL, v_block_view
        );
        IF num_nonnulls(v_step.p_merge_key, v_step.p_recompute_key) > 0 THEN
            v_replaced := omd_lineage._replace_block(
                v_step.p_topic_id, v_step.p_transforms, v_step.p_merge_key, v_step.p_recompute_key,
                v_step.p_table_code, v_step.p_insert_column, p_module_instance_id, v_step.p_name
            );
            v_rows := v_replaced.p_inserted + v_replaced.p_updated;
            v_nulls := v_replaced.p_nulls;
        ELSE
            FOREACH v_statement IN ARRAY v_step.p_transforms LOOP
                v_inserted := omd_lineage._insert_transform(
                    v_statement, v_step.p_table_code, v_step.p_insert_column, p_module_instance_id,
                    v_step.p_name,
                    -- These statements may set something for the planner.
                    p_rows_input => CASE WHEN v_step.p_before_sql = '{}' THEN v_step.p_rows END
                );
                v_rows := v_rows + v_inserted.p_row_count;
                v_nulls := CASE
                    WHEN v_nulls = '{}' THEN v_inserted.p_nulls
                    ELSE omd_lineage._add_counts(v_nulls, v_inserted.p_nulls)
                END;
            END LOOP;
        END IF;
        -- What the views have read keeps its name from now on, since it is locked.
        IF omd.target_relation(v_step.p_base_table) IS DISTINCT FROM v_base_table THEN
            PERFORM omd.raise_error(
                'OM213',
                jsonb_build_object(
                    'topic', v_step.p_name,
                    'transform', v_step.p_transforms[1],
                    'table_code', v_step.p_base_table,
                    'next_command', format('CALL omd_lineage.step(%L);', v_step.p_name),
                    'problem', format('%s was renamed during the step', v_step.p_base_table)
                )
            );
        END IF;
    ELSE
        CALL omd_lineage._call_processor(
            v_step.p_processor, v_step.p_name, v_step.p_table_code, v_step.p_insert_column,
            p_module_instance_id, v_rows, v_nulls, v_reported
        );
    END IF;
    FOREACH v_statement IN ARRAY v_step.p_after_sql LOOP
        EXECUTE v_statement;
    END LOOP;

    IF v_step.p_former_array IS NOT NULL THEN
        PERFORM omd_lineage._widen_restatements(
            v_step.p_restatement_id, v_step.p_table_code, v_step.p_insert_column,
            ARRAY[p_module_instance_id]
        );
    END IF;
    IF v_replaced IS NULL THEN
        PERFORM omd.tell_row_counts(p_rows_input => v_step.p_rows, p_rows_inserted => v_rows);
    ELSE
        PERFORM omd.tell_row_counts(
            v_step.p_rows, v_replaced.p_inserted, v_replaced.p_updated, v_replaced.p_deleted
        );
        PERFORM omd.tell_discarded_rows(v_replaced.p_discarded);
    END IF;
    IF v_reported IS NOT NULL THEN
        PERFORM omd.tell_row_counts(
            v_step.p_rows, (v_reported ->> 'inserted')::bigint, (v_reported ->> 'updated')::bigint,
            (v_reported ->> 'deleted')::bigint
        );
    END IF;
    v_rows := omd_lineage._advance_offset(p_module_instance_id, p_plan_number, v_rows, v_nulls);
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
