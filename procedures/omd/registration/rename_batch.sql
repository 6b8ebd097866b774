-- Everything refers to a Batch by its id, also a run that executes, so nothing else changes. But
-- programs call it by its code: with the former code they get an error. A trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.rename_batch(
    p_batch_code text,
    p_new_batch_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $rename_batch$
BEGIN
    PERFORM omd.require_name('p_batch_code', p_batch_code);
    PERFORM omd.require_name('p_new_batch_code', p_new_batch_code);
    BEGIN
        UPDATE omd.batch AS b SET batch_code = p_new_batch_code
        WHERE b.batch_code = p_batch_code;
    EXCEPTION
        WHEN unique_violation THEN
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_new_batch_code',
                    'value', p_new_batch_code,
                    'expected', 'a code that no Batch has yet'
                )
            );
    END;
    IF FOUND THEN
        RETURN;
    END IF;

    -- The Batch has the new code already, so this is a second call.
    PERFORM FROM omd.batch AS b WHERE b.batch_code = p_new_batch_code;
    IF NOT FOUND THEN
        PERFORM omd._require_batch(p_batch_code);
    END IF;
    RAISE NOTICE USING
        MESSAGE = format(
            'there is no Batch "%s", and there is a Batch "%s": it was renamed before',
            p_batch_code,
            p_new_batch_code
        );
END
$rename_batch$;

COMMENT ON PROCEDURE omd.rename_batch IS
'Gives the Batch p_batch_code the code p_new_batch_code. Its history and every reference stay, '
'and a run that executes goes on; callers must use the new code from now on. When only the new '
'code exists, it was renamed before, and there is only a notice. The event log says who renamed '
'it. Errors: OM001 (neither code exists), OM005, OM013 (a code that is taken, blank or longer '
'than 2600 bytes). Locks: the Batch row.';
GRANT EXECUTE ON PROCEDURE omd.rename_batch TO omd_admin;
