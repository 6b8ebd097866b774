-- What has failed too often waits for a person, and one that waits for its pause need not.

CREATE OR REPLACE PROCEDURE omd.retry(
    p_module_code text,
    INOUT p_was boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $retry$
DECLARE
    v_module_id integer;
    v_module_code text;
    v_counted record;
    v_start_hint text;
    v_running bigint;
BEGIN
    SELECT m.module_id INTO v_module_id FROM omd.module AS m WHERE m.module_code = p_module_code;
    v_counted := omd._forget_attempts(v_module_id, p_module_code);
    v_module_id := coalesce(
        v_module_id, v_counted.p_its_module_id, omd._require_module(p_module_code)
    );
    SELECT m.module_code INTO v_module_code FROM omd.module AS m WHERE m.module_id = v_module_id;
    v_start_hint := omd.start_hint(v_module_id);
    -- The rows of the failed run are still there, and no worker would run it again.
    IF v_start_hint IS NOT NULL THEN
        p_was := FALSE;
        SELECT r.module_instance_id INTO v_running
        FROM omd.running_modules() AS r
        WHERE r.module_id = v_module_id;
        IF v_running IS NOT NULL THEN
            v_start_hint := format('Module Instance %s executes it again.', v_running);
        END IF;
        PERFORM omd.write_event(
            0, 0, 4, 'RETRY',
            format('%s was not set to retry by %s: %s', v_module_code, omd.editor(), v_start_hint)
        );
        RAISE WARNING USING
            MESSAGE = format(
                'Module "%s" is begun by a program outside, and stays as it is. %s',
                v_module_code, v_start_hint
            ),
            HINT = format('CALL omd.undo_left(%L); undoes what it left.', v_module_code);
        RETURN;
    END IF;
    p_was := omd.clear_failures(v_module_id) OR v_counted.p_was;
    PERFORM omd.write_event(
        0, 0, 4, 'RETRY', format('%s was set to retry by %s', v_module_code, omd.editor())
    );
END
$retry$;

COMMENT ON PROCEDURE omd.retry IS
'Forgets the failures of the Module p_module_code and its pause, so that its work is ready again '
'at once. p_module_code: the code of a Module, or the name of a topic, whose attempts are forgotten'
' too; a block that it has planned stays the same. Returns p_was: whether there was anything to '
'forget. For a Module that a program outside begins it changes nothing, and warns how that one is '
'started again, or which run of it executes. Errors: OM002, OM005: p_module_code is NULL; OM208: '
'the topic is a source. Locks: the state of the Module; the offset of a topic. Call again when the '
'answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.retry TO omd_admin;
