-- A window comes again as it was, before new ones. One of changes that would end between a change
-- and its undo goes on to the undo, with what was to be taken again up to there. Where the stage
-- has got a window of another kind meanwhile, it goes on with that one, and the run supersedes all.

CREATE OR REPLACE FUNCTION omd_decision._take_return(
    p_module_instance_id bigint,
    p_module_id integer,
    p_definition jsonb
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_return$
DECLARE
    v_return record := omd.next_window_return(p_module_id);
    v_source CONSTANT text := CASE
        WHEN p_definition #>> '{window,by}' = 'CHANGES'
            THEN omd_decision._block_source(p_definition)
    END;
    v_block record;
    v_is_same boolean;
BEGIN
    IF v_return.p_window_return_id IS NULL THEN
        RETURN FALSE;
    END IF;
    v_is_same := CASE
        WHEN NOT p_definition ? 'window'
            THEN num_nonnulls(v_return.p_end_value, v_return.p_end_id) = 0
        WHEN v_source IS NOT NULL THEN v_return.p_source_code = v_source
        ELSE v_return.p_source_code IS NULL AND v_return.p_end_value IS NOT NULL
    END;
    IF v_is_same IS NOT TRUE THEN
        UPDATE omd_decision.run AS r SET supersedes = omd.drop_windows(p_module_id)
        WHERE r.module_instance_id = p_module_instance_id;
        RETURN FALSE;
    END IF;
    WHILE v_source IS NOT NULL AND NOT omd.block_stands(v_source, v_return.p_end_id) LOOP
        v_block := omd.plan_block(
            v_source, '{}', v_return.p_start_value,
            coalesce(v_return.p_start_id, -9223372036854775808),
            omd.block_upto(v_source, v_return.p_end_id), 9223372036854775807
        );
        PERFORM omd.extend_window(
            v_return.p_window_return_id, v_block.p_end_pos, v_block.p_end_id
        );
        v_return := omd.next_window_return(p_module_id);
    END LOOP;
    PERFORM omd.take_window(v_return.p_window_return_id, p_module_instance_id);
    UPDATE omd_decision.run AS r SET supersedes = v_return.p_former_instances
    WHERE r.module_instance_id = p_module_instance_id;
    PERFORM omd.write_event(
        p_module_instance_id, 0, 6, 'WINDOW',
        format(
            'takes the window of Module Instances %s again, which recall %s took back',
            array_to_string(v_return.p_former_instances, ', '), v_return.p_recall_id
        )
    );
    RETURN TRUE;
END
$take_return$;

COMMENT ON FUNCTION omd_decision._take_return IS
'Lets the run p_module_instance_id of the Module p_module_id, a stage with the document '
'p_definition, take a window again that a recall took back, and returns whether there is one. '
'Locks: the entry.';
