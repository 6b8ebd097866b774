-- A step undoes what the one before it has left, and then loads. Here the first half is wanted
-- alone: a begin of the Module undoes, with the rights of the caller, and its run ends at once. A
-- planned block stays, and a later step takes it. A step that succeeded is not undone here, since
-- its topic has to go back to its block.

CREATE OR REPLACE PROCEDURE omd_lineage.undo_failed(
    p_topic text,
    INOUT p_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $undo_failed$
DECLARE
    v_runs record := omd_lineage._open_runs(omd_lineage._require_topic(p_topic), 'undone');
    v_indicator text;
    v_array bigint[];
    v_reason text;
BEGIN
    p_module_instance_id := NULL;
    IF v_runs.p_succeeded_array <> '{}' THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', p_topic,
                'problem', format(
                    'Module Instances %s have succeeded and are to be undone; a step does so and '
                    'takes their blocks again', array_to_string(v_runs.p_succeeded_array, ', ')
                )
            )
        );
    ELSIF v_runs.p_instance_array = '{}' THEN
        RETURN;
    END IF;
    CALL omd.begin_module(
        v_runs.p_module_code,
        p_module_instance_id => p_module_instance_id,
        p_processing_indicator => v_indicator,
        p_instance_array => v_array,
        p_reason => v_reason
    );
    IF v_indicator <> 'P' THEN
        PERFORM omd.raise_error(
            'OM116',
            jsonb_build_object(
                'topic', p_topic,
                'module_code', v_runs.p_module_code,
                'module_instance_ids', v_runs.p_instance_array,
                'answer', concat_ws(', ', v_indicator, v_reason)
            )
        );
    END IF;
    CALL omd.succeed_rollback(p_module_instance_id);
END
$undo_failed$;

COMMENT ON PROCEDURE omd_lineage.undo_failed IS
'Undoes the rows that failed and dead runs of the topic p_topic have left, without taking a step; '
'a planned block stays planned. Returns p_module_instance_id, the run that undid them, or NULL '
'when there was nothing to undo. Errors: OM005: p_topic is NULL; OM014: the isolation level is '
'not read committed; OM015: it is not registered; OM100, OM112: the rollback does not undo '
'everything; OM116: the begin of its Module was refused, or the rows are not in this database; '
'OM201: nothing is known that would undo them; OM202: the table does not exist; OM205: it lacks a '
'column that the rollback needs; OM208: a run of it executes, somebody holds it, or a step that '
'succeeded is to be undone. Locks: the offset; the Module row; the target rows. May be NULL: '
'p_module_instance_id. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.undo_failed TO omd_runner;
