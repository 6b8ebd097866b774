-- A retired Batch stays in every report but takes part in nothing. A run that executes, or a
-- pending rollback, would then be forgotten, so the procedure refuses it. The members stay in the
-- Batch, since they say what it was. Triggers log each edit.

CREATE OR REPLACE PROCEDURE omd.retire_batch(
    p_batch_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $retire_batch$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
    v_instance_id bigint;
BEGIN
    -- A begin takes this lock too, so the check below sees every run that executes.
    PERFORM FROM omd.batch AS b WHERE b.batch_id = v_batch_id FOR NO KEY UPDATE;

    SELECT min(e.id) INTO v_instance_id
    FROM omd._executing_batch_instances(v_batch_id, NULL) AS e (id);
    IF v_instance_id IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM113',
            jsonb_build_object(
                'object_type', 'Batch',
                'code', p_batch_code,
                'because', format('its instance %s executes', v_instance_id),
                'next_command', format('CALL omd.end_batch_instance(%s);', v_instance_id)
            )
        );
    ELSIF omd._batch_rollback_is_pending(v_batch_id) THEN
        PERFORM omd.raise_error(
            'OM113',
            jsonb_build_object(
                'object_type', 'Batch',
                'code', p_batch_code,
                'because', 'what ran in it waits for its rollback',
                'next_command', format('CALL omd.begin_batch(%L);', p_batch_code)
            )
        );
    END IF;

    UPDATE omd.batch AS b SET inactive_indicator = 'Y'
    WHERE b.batch_id = v_batch_id AND b.inactive_indicator = 'N';
    DELETE FROM omd.batch_hierarchy AS bh WHERE bh.batch_id = v_batch_id;
END
$retire_batch$;

COMMENT ON PROCEDURE omd.retire_batch IS
'Retires the Batch p_batch_code: it becomes inactive and is removed from all its parents; its '
'history, its members and its code stay. register_batch (p_inactive_indicator N) and '
'add_batch_to_parent_batch bring it back. A second call changes nothing. The event log says who '
'retired it. Errors: OM001, OM005, OM113 (it executes, or a rollback waits). Locks: the Batch row.';
GRANT EXECUTE ON PROCEDURE omd.retire_batch TO omd_admin;
