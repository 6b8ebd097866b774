-- A control is called where the owner of OMD writes, so OMD calls a copy of it, with no rights.

CREATE OR REPLACE PROCEDURE omd_facts.register_control(
    p_interface_code text,
    p_entity_code text,
    p_control_code text,
    p_operation text,
    p_timing text,
    p_function text,
    p_sequence integer DEFAULT 100,
    p_inactive_indicator text DEFAULT 'N'
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_control$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_entity_id integer;
    v_function_id oid;
    v_problem text;
BEGIN
    PERFORM omd.require_name('p_entity_code', p_entity_code);
    PERFORM omd.require_name('p_control_code', p_control_code);
    PERFORM omd.require_name('p_function', p_function);
    SELECT e.entity_id INTO v_entity_id
    FROM omd_facts.entity AS e
    WHERE e.interface_id = v_interface.interface_id AND e.entity_code = p_entity_code;
    BEGIN
        v_function_id := to_regprocedure(p_function || '(text, jsonb, jsonb)');
    EXCEPTION
        WHEN syntax_error OR invalid_name THEN
            v_function_id := NULL;
    END;
    v_problem := CASE
        WHEN v_entity_id IS NULL THEN 'there is no such entity'
        WHEN p_operation IS NULL OR p_operation NOT IN ('INSERT', 'UPDATE', 'DELETE')
            THEN 'the operation is INSERT, UPDATE or DELETE'
        WHEN p_timing IS NULL OR p_timing NOT IN ('BEFORE', 'AFTER')
            THEN 'the timing is BEFORE or AFTER'
        WHEN p_sequence IS NULL OR p_inactive_indicator IS NULL
            OR p_inactive_indicator NOT IN ('Y', 'N')
            THEN 'it needs a sequence, and Y or N as its inactive indicator'
        WHEN v_function_id IS NULL OR omd_facts._control_text(p_function) IS NULL
            THEN
                'it must be a function (text, jsonb, jsonb) RETURNS jsonb in sql or plpgsql, with '
                'its body as a string and no setting but a search_path'
    END;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM253', jsonb_build_object('control_code', p_control_code, 'problem', v_problem)
        );
    END IF;
    INSERT INTO omd_facts.control (
        entity_id, control_code, operation, timing, function_name, sequence, inactive_indicator
    )
    SELECT
        v_entity_id, p_control_code, p_operation, p_timing,
        format('%I.%I', p.pronamespace::regnamespace::name, p.proname),
        p_sequence, p_inactive_indicator
    FROM pg_proc AS p
    WHERE p.oid = v_function_id
    ON CONFLICT (entity_id, control_code) DO UPDATE SET
        operation = excluded.operation,
        timing = excluded.timing,
        function_name = excluded.function_name,
        sequence = excluded.sequence,
        inactive_indicator = excluded.inactive_indicator;
    CALL omd_facts._copy_control(v_entity_id, p_control_code);
END
$register_control$;

COMMENT ON PROCEDURE omd_facts.register_control IS
'Registers a control of the rows that are written through the current view of the entity '
'p_entity_code of the interface p_interface_code. p_operation: INSERT, UPDATE or DELETE. p_timing: '
'BEFORE or AFTER the other checks. p_function: a function (p_operation text, p_old jsonb, p_new '
'jsonb) in sql or plpgsql that refuses by raising; what it returns BEFORE overlays the new row. '
'Its text is copied, and the copy is called with the rights of omd_guest, which has none: grant it '
'what the text reads. Register a function again when it has changed. p_sequence: the order of '
'controls. p_inactive_indicator: Y, it is not called. Errors: OM005, OM013, OM031, OM251: the '
'interface is not deployed, OM253: it is none. Locks: the control, the copy. Call again when the '
'answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_facts.register_control TO omd_admin;
