-- A retired Module stays in every report but takes part in nothing. A run that executes, or a
-- pending rollback, would then be forgotten, so the procedure refuses it. Triggers log each edit.

CREATE OR REPLACE PROCEDURE omd.retire_module(
    p_module_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $retire_module$
DECLARE
    v_module_id integer := omd._require_module(p_module_code);
    v_instance_id bigint;
BEGIN
    -- A begin takes this lock too, so the check below sees every run that executes.
    PERFORM FROM omd.module AS m WHERE m.module_id = v_module_id FOR NO KEY UPDATE;

    SELECT min(e.id) INTO v_instance_id
    FROM omd._executing_module_instances(v_module_id, NULL) AS e (id);
    IF v_instance_id IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM113',
            jsonb_build_object(
                'object_type', 'Module',
                'code', p_module_code,
                'because', format('its instance %s executes', v_instance_id),
                'next_command', format('CALL omd.end_module_instance(%s);', v_instance_id)
            )
        );
    ELSIF omd.pending_rollback(v_module_id) <> '{}' THEN
        PERFORM omd.raise_error(
            'OM113',
            jsonb_build_object(
                'object_type', 'Module',
                'code', p_module_code,
                'because', format(
                    'its instances %s wait for their rollback',
                    array_to_string(omd.pending_rollback(v_module_id), ', ')
                ),
                'next_command', format('CALL omd.begin_module(%L);', p_module_code)
            )
        );
    END IF;

    UPDATE omd.module AS m SET inactive_indicator = 'Y'
    WHERE m.module_id = v_module_id AND m.inactive_indicator = 'N';
    DELETE FROM omd.batch_module AS bm WHERE bm.module_id = v_module_id;
END
$retire_module$;

COMMENT ON PROCEDURE omd.retire_module IS
'Retires the Module p_module_code: it becomes inactive and is removed from all its Batches; its '
'history and its code stay. register_module (p_inactive_indicator N) and add_module_to_batch '
'bring it back. A second call changes nothing. The event log says who retired it. Errors: OM002, '
'OM005, OM113 (it executes, or a rollback waits). Locks: the Module row.';
GRANT EXECUTE ON PROCEDURE omd.retire_module TO omd_admin;
