-- Everything refers to a Module by its id, also a run that executes, so nothing else changes. But
-- programs call it by its code: with the former code they get an error. A trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.rename_module(
    p_module_code text,
    p_new_module_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $rename_module$
BEGIN
    PERFORM omd.require_name('p_module_code', p_module_code);
    PERFORM omd.require_name('p_new_module_code', p_new_module_code);
    BEGIN
        UPDATE omd.module AS m SET module_code = p_new_module_code
        WHERE m.module_code = p_module_code;
    EXCEPTION
        WHEN unique_violation THEN
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_new_module_code',
                    'value', p_new_module_code,
                    'expected', 'a code that no Module has yet'
                )
            );
    END;
    IF FOUND THEN
        RETURN;
    END IF;

    -- The Module has the new code already, so this is a second call.
    PERFORM FROM omd.module AS m WHERE m.module_code = p_new_module_code;
    IF NOT FOUND THEN
        PERFORM omd._require_module(p_module_code);
    END IF;
    RAISE NOTICE USING
        MESSAGE = format(
            'there is no Module "%s", and there is a Module "%s": it was renamed before',
            p_module_code,
            p_new_module_code
        );
END
$rename_module$;

COMMENT ON PROCEDURE omd.rename_module IS
'Gives the Module p_module_code the code p_new_module_code. Its history and every reference stay, '
'and a run that executes goes on; callers must use the new code from now on. When only the new '
'code exists, it was renamed before, and there is only a notice. The event log says who renamed '
'it. Errors: OM002 (neither code exists), OM005, OM013 (a code that is taken, blank or longer '
'than 2600 bytes). Locks: the Module row.';
GRANT EXECUTE ON PROCEDURE omd.rename_module TO omd_admin;
