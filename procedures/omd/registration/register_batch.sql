-- One procedure both inserts and updates, so that a script of definitions can be run again.

CREATE OR REPLACE PROCEDURE omd.register_batch(
    p_batch_code text,
    p_frequency_code text DEFAULT NULL,
    p_batch_description text DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL,
    INOUT p_batch_id integer DEFAULT NULL,
    p_continue_on_failure boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_batch$
DECLARE
    v_frequency_code text := omd.require_code('frequency', p_frequency_code);
    v_inactive_indicator text := omd.require_code('inactive indicator', p_inactive_indicator);
BEGIN
    PERFORM omd.require_name('p_batch_code', p_batch_code);

    INSERT INTO omd.batch AS b (
        batch_code, frequency_code, batch_description, inactive_indicator, continue_on_failure
    )
    VALUES (
        p_batch_code,
        coalesce(v_frequency_code, 'Adhoc'),
        p_batch_description,
        coalesce(v_inactive_indicator, 'N'),
        coalesce(p_continue_on_failure, FALSE)
    )
    ON CONFLICT (batch_code) DO UPDATE SET
        frequency_code = coalesce(v_frequency_code, b.frequency_code),
        batch_description = coalesce(p_batch_description, b.batch_description),
        inactive_indicator = coalesce(v_inactive_indicator, b.inactive_indicator),
        continue_on_failure = coalesce(p_continue_on_failure, b.continue_on_failure)
    RETURNING b.batch_id INTO p_batch_id;
END
$register_batch$;

COMMENT ON PROCEDURE omd.register_batch IS
'Inserts or updates the Batch p_batch_code; a NULL argument keeps the present value. '
'p_frequency_code: Adhoc (the default of a new Batch), Continuous, Hourly, Daily, Weekly, '
'Fortnightly, Monthly. p_batch_description: what it loads. p_inactive_indicator: Y skips each '
'run, N does not. p_continue_on_failure: run_batch runs the rest after a Module has failed. '
'Returns p_batch_id. Errors: OM005, OM006, OM013. Locks: the Batch row. DIRECT, "Batch '
'Processing". Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.register_batch TO omd_admin;
