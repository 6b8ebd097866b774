-- The controls that an older version has registered get the copies that are called. Each
-- installation runs the script, in the transaction after its own; it changes nothing where a copy
-- is.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE omd_owner;

DO $do$
DECLARE
    v_control omd_facts.control;
    v_problem text;
BEGIN
    FOR v_control IN
        SELECT c.* FROM omd_facts.control AS c
        WHERE to_regprocedure(
            omd_facts._control_copy(c.entity_id, c.control_code) || '(text, jsonb, jsonb)'
        ) IS NULL
        ORDER BY c.entity_id, c.control_code
    LOOP
        v_problem := NULL;
        BEGIN
            IF omd_facts._control_text(v_control.function_name) IS NULL THEN
                v_problem := 'it is no function in sql or plpgsql that can be copied';
            ELSE
                CALL omd_facts._copy_control(v_control.entity_id, v_control.control_code);
            END IF;
        EXCEPTION
            WHEN insufficient_privilege OR undefined_object THEN
                v_problem := sqlerrm;
        END;
        IF v_problem IS NOT NULL THEN
            RAISE WARNING USING
                MESSAGE = format(
                    'the control %s refuses all rows, since %s has no copy: %s',
                    v_control.control_code, v_control.function_name, v_problem
                ),
                HINT = 'Change the function, then CALL omd_facts.register_control(…) again.';
        END IF;
    END LOOP;
END
$do$;
