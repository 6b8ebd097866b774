-- A begin of the Module undoes what the steps of the topic have left, with the rights of the
-- caller, so this procedure has no more. The routines that lock, check and delete have more.

CREATE OR REPLACE PROCEDURE omd_lineage.remove_topic(
    p_topic text,
    p_undo boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $remove_topic$
DECLARE
    v_topic record := omd_lineage._require_removable(p_topic);
    v_because text := '';
    v_instance_id bigint;
    v_indicator text;
    v_array bigint[];
    v_reason text;
BEGIN
    IF v_topic.p_instance_array <> '{}' AND p_undo IS NOT FALSE THEN
        IF p_undo THEN
            CALL omd.begin_module(
                v_topic.p_module_code,
                p_module_instance_id => v_instance_id,
                p_processing_indicator => v_indicator,
                p_instance_array => v_array,
                p_reason => v_reason
            );
            v_because := '; the begin that would undo them returned '
                || concat_ws(', ', v_indicator, v_reason);
        END IF;
        IF v_indicator IS DISTINCT FROM 'P' THEN
            PERFORM omd.raise_error(
                'OM115',
                jsonb_build_object(
                    'topic', p_topic,
                    'module_instance_ids', v_topic.p_instance_array,
                    'table_code', v_topic.p_table_code,
                    'because', v_because
                )
            );
        END IF;
        CALL omd.module_success(v_instance_id);
    END IF;
    PERFORM omd_lineage._remove_topic(v_topic.p_topic_id);
END
$remove_topic$;

COMMENT ON PROCEDURE omd_lineage.remove_topic IS
'Removes the topic p_topic with its offset and its planned block; its history, its log and its '
'Module stay. p_undo: what becomes of rows of runs that failed, are dead, or wait for a rollback: '
'true undoes them first, for which the caller needs omd_runner and DELETE on the table; false '
'leaves them to the next begin of the Module; without it the topic is removed only when there are '
'no such runs. Errors: OM005: p_topic is NULL; OM015: it is not registered; OM115: such runs are '
'there, or could not be undone; OM208: a step holds it, a run of its Module executes, or another '
'topic depends on it alone. Locks: other registrations; the topic; with p_undo the target rows. '
'Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lineage.remove_topic FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.remove_topic TO omd_admin;
