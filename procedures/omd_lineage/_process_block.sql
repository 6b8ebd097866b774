-- omd.execute_module executes this as the SQL of the run, so that an error undoes all of it. Log
-- and offset come last, so that the row of the offset is locked for a moment only. The procedure
-- runs with the rights of the caller. It reads no view of OMD: a view would stay locked as long as
-- the transforms take.

CREATE OR REPLACE PROCEDURE omd_lineage._process_block(
    p_module_instance_id bigint,
    p_plan_number bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $process_block$
DECLARE
    v_step record;
    v_statement text;
    v_rows bigint := 0::bigint;
    v_nulls jsonb := '{}'::jsonb;
    v_inserted record;
    v_told jsonb;
BEGIN
    SELECT
        t.*, o.last, o.quiet_start, o.next, o.rows,
        omd.insert_column(t.module_id) AS insert_column
    INTO v_step
    FROM omd_lineage.offsets AS o
    INNER JOIN omd_lineage.topic AS t USING (topic_id)
    WHERE o.module_instance_id = p_module_instance_id AND o.plan_number = p_plan_number;
    IF NOT FOUND THEN
        PERFORM omd_lineage._raise_fenced(p_module_instance_id, p_plan_number);
    END IF;

    CALL omd_lineage._write_block(
        v_step.topic, coalesce(v_step.quiet_start, v_step.last), v_step.next
    );
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
    ELSIF v_step.processor = 'STEP' THEN
        FOREACH v_statement IN ARRAY v_step.transforms LOOP
            v_inserted := omd_lineage._insert_transform(
                v_statement, v_step.table_code, v_step.insert_column, p_module_instance_id,
                v_step.topic
            );
            v_rows := v_rows + v_inserted.p_row_count;
            v_nulls := CASE
                WHEN v_nulls = '{}' THEN v_inserted.p_nulls
                ELSE omd_lineage._add_counts(v_nulls, v_inserted.p_nulls)
            END;
        END LOOP;
    ELSE
        CALL omd_lineage._call_processor(
            v_step.processor, v_step.topic, v_step.table_code, v_step.insert_column,
            p_module_instance_id, v_rows, v_nulls, v_told
        );
    END IF;
    FOREACH v_statement IN ARRAY v_step.after_sql LOOP
        EXECUTE v_statement;
    END LOOP;

    PERFORM omd.tell_row_counts(p_rows_input => v_step.rows, p_rows_inserted => v_rows);
    IF v_told IS NOT NULL THEN
        PERFORM omd.tell_row_counts(
            v_step.rows, (v_told ->> 'inserted')::bigint, (v_told ->> 'updated')::bigint,
            (v_told ->> 'deleted')::bigint
        );
    END IF;
    PERFORM omd_lineage._advance_offset(p_module_instance_id, p_plan_number, v_rows, v_nulls);
END
$process_block$;

COMMENT ON PROCEDURE omd_lineage._process_block IS
'Runs the statements and transforms of the block of the step p_module_instance_id and moves the '
'offset, under the fence p_plan_number, in the transaction of the caller. Errors: OM004: there is '
'no such instance of a topic; OM108: the step does not hold its topic any more; OM207: a '
'transform does not fit the destination; those of the SQL. Locks: what the SQL takes; at the end '
'the offset.';
REVOKE ALL ON PROCEDURE omd_lineage._process_block FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage._process_block TO omd_runner;
