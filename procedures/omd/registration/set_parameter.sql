-- A new parameter needs no call of its own, so that a script sets values only.

CREATE OR REPLACE PROCEDURE omd.set_parameter(
    p_parameter_code text,
    p_parameter_value text,
    p_batch_code text DEFAULT NULL,
    p_module_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_parameter$
DECLARE
    v_parameter_id integer;
BEGIN
    PERFORM omd.require_name('p_parameter_code', p_parameter_code);
    IF num_nonnulls(p_batch_code, p_module_code) <> 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_batch_code, p_module_code',
                'value', concat_ws(', ', p_batch_code, p_module_code),
                'expected', 'exactly one of the two'
            )
        );
    END IF;

    INSERT INTO omd.parameter (parameter_code) VALUES (p_parameter_code) ON CONFLICT DO NOTHING;
    SELECT p.parameter_id INTO v_parameter_id
    FROM omd.parameter AS p
    WHERE p.parameter_code = p_parameter_code;

    IF p_batch_code IS NOT NULL THEN
        INSERT INTO omd.batch_parameter AS bp (batch_id, parameter_id, parameter_value)
        VALUES (omd._require_batch(p_batch_code), v_parameter_id, p_parameter_value)
        ON CONFLICT (
            batch_id, parameter_id
        ) DO UPDATE SET parameter_value = excluded.parameter_value;
    ELSE
        INSERT INTO omd.module_parameter AS mp (module_id, parameter_id, parameter_value)
        VALUES (omd._require_module(p_module_code), v_parameter_id, p_parameter_value)
        ON CONFLICT (
            module_id, parameter_id
        ) DO UPDATE SET parameter_value = excluded.parameter_value;
    END IF;
END
$set_parameter$;

COMMENT ON PROCEDURE omd.set_parameter IS
'Sets the value of the parameter p_parameter_code for either the Batch p_batch_code or the '
'Module p_module_code. A new parameter is registered. Errors: OM001, OM002, OM005, OM013. Locks: '
'the rows written. '
'Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.set_parameter TO omd_admin;
