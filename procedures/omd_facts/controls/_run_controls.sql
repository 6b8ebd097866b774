-- A control is code of a user, and this routine has the rights of the owner: _copy_control says
-- what is called.

CREATE OR REPLACE FUNCTION omd_facts._run_controls(
    p_entity_id integer,
    p_operation text,
    p_timing text,
    p_old jsonb,
    p_new jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $run_controls$
DECLARE
    v_control record;
    v_answer jsonb;
    v_new jsonb := p_new;
    v_unknown text;
    v_copy text;
BEGIN
    FOR v_control IN
        SELECT c.* FROM omd_facts.control AS c
        WHERE c.entity_id = p_entity_id
            AND c.operation = p_operation
            AND c.timing = p_timing
            AND c.inactive_indicator = 'N'
        ORDER BY c.sequence, c.control_code
    LOOP
        v_copy := omd_facts._control_copy(p_entity_id, v_control.control_code);
        IF NOT EXISTS (
            SELECT FROM pg_proc AS p
            WHERE p.oid = to_regprocedure(v_copy || '(text, jsonb, jsonb)')
                AND p.proowner = to_regrole('omd_guest')
                AND p.prosecdef
        ) THEN
            PERFORM omd.raise_error(
                'OM253',
                jsonb_build_object(
                    'control_code', v_control.control_code,
                    'problem', 'its function could not be copied; register it again'
                )
            );
        END IF;
        EXECUTE format('SELECT %s($1, $2, $3)', v_copy)
        INTO v_answer USING p_operation, p_old, v_new;
        -- What a control sets for the session stays set here, and from a path of its own the owner
        -- would call what stands there: until it is refused, each name is said in full.
        IF pg_catalog.current_setting('search_path')
            OPERATOR(pg_catalog.<>) 'pg_catalog, pg_temp'
        THEN
            PERFORM omd.raise_error(
                'OM253',
                pg_catalog.jsonb_build_object(
                    'control_code', v_control.control_code,
                    'problem', 'it changes search_path for the session'
                )
            );
        END IF;
        CONTINUE WHEN p_timing <> 'BEFORE' OR jsonb_typeof(v_answer) IS DISTINCT FROM 'object';
        SELECT k.key INTO v_unknown
        FROM jsonb_object_keys(v_answer) AS k (key)
        WHERE NOT coalesce(v_new, p_old) ? k.key
        LIMIT 1;
        IF FOUND THEN
            PERFORM omd.raise_error(
                'OM059',
                jsonb_build_object(
                    'control_code', v_control.control_code, 'attribute', v_unknown
                )
            );
        END IF;
        v_new := v_new || v_answer;
    END LOOP;
    RETURN v_new;
END
$run_controls$;

COMMENT ON FUNCTION omd_facts._run_controls IS
'Calls the controls of the entity p_entity_id for p_operation at p_timing, and returns the new row '
'with what they answered. Errors: OM059: one answers an attribute that there is not; OM253: one '
'has no copy, or changes search_path. Locks: what they take.';
