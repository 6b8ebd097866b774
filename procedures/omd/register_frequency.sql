-- The upper bound keeps a sum of intervals within the range of a timestamp, which the reports rely
-- on. A trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.register_frequency(
    p_frequency_code text,
    p_frequency_interval interval DEFAULT NULL,
    p_frequency_description text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_frequency$
DECLARE
    v_frequency_code text;
BEGIN
    PERFORM omd.require_name('p_frequency_code', p_frequency_code);
    IF p_frequency_interval <= interval '0' OR p_frequency_interval > interval '100 years' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_frequency_interval',
                'value', p_frequency_interval,
                'expected', 'longer than zero and at most 100 years, or NULL for no interval'
            )
        );
    END IF;
    SELECT f.frequency_code INTO v_frequency_code
    FROM omd.frequency AS f
    WHERE upper(f.frequency_code) = upper(p_frequency_code);

    INSERT INTO omd.frequency AS f (frequency_code, frequency_interval, frequency_description)
    VALUES (
        coalesce(v_frequency_code, p_frequency_code),
        p_frequency_interval,
        coalesce(p_frequency_description, '')
    )
    ON CONFLICT (frequency_code) DO UPDATE SET
        frequency_interval = coalesce(p_frequency_interval, f.frequency_interval),
        frequency_description = coalesce(p_frequency_description, f.frequency_description);
END
$register_frequency$;

COMMENT ON PROCEDURE omd.register_frequency IS
'Adds the frequency p_frequency_code, or changes it; a NULL argument keeps the present value, and '
'the case of a known code does not matter. p_frequency_interval: a Batch whose last success '
'started less than this ago is skipped; a new frequency without it never skips. Errors: OM005, '
'OM013. Locks: the frequency row.';
REVOKE ALL ON PROCEDURE omd.register_frequency FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.register_frequency TO omd_admin;
