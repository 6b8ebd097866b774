-- The upper bound keeps a sum of intervals within the range of a timestamp, which the reports rely
-- on; a tolerance as long as the interval would switch the frequency off. A trigger logs the edit.

CREATE OR REPLACE PROCEDURE omd.register_frequency(
    p_frequency_code text,
    p_frequency_interval interval DEFAULT NULL,
    p_frequency_description text DEFAULT NULL,
    p_frequency_tolerance interval DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_frequency$
DECLARE
    v_old omd.frequency;
    v_new omd.frequency;
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
    SELECT f.* INTO v_old
    FROM omd.frequency AS f
    WHERE upper(f.frequency_code) = upper(p_frequency_code)
    FOR NO KEY UPDATE;
    v_new.frequency_interval := coalesce(p_frequency_interval, v_old.frequency_interval);
    v_new.frequency_tolerance := coalesce(p_frequency_tolerance, v_old.frequency_tolerance);
    IF v_new.frequency_tolerance < interval '0'
        OR v_new.frequency_tolerance >= coalesce(v_new.frequency_interval, interval '100 years')
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_frequency_tolerance',
                'value', v_new.frequency_tolerance,
                'expected', format(
                    'zero or longer, and shorter than the interval, %s',
                    coalesce(v_new.frequency_interval, interval '100 years')
                )
            )
        );
    END IF;

    INSERT INTO omd.frequency AS f (
        frequency_code, frequency_interval, frequency_description, frequency_tolerance
    )
    VALUES (
        coalesce(v_old.frequency_code, p_frequency_code),
        p_frequency_interval,
        coalesce(p_frequency_description, ''),
        p_frequency_tolerance
    )
    ON CONFLICT (frequency_code) DO UPDATE SET
        frequency_interval = coalesce(p_frequency_interval, f.frequency_interval),
        frequency_description = coalesce(p_frequency_description, f.frequency_description),
        frequency_tolerance = coalesce(p_frequency_tolerance, f.frequency_tolerance);
END
$register_frequency$;

COMMENT ON PROCEDURE omd.register_frequency IS
'Adds the frequency p_frequency_code, or changes it; a NULL argument keeps the present value, and '
'the case of a known code does not matter. p_frequency_interval: a Batch whose last success '
'started less than this ago is skipped; a new frequency without it never skips. '
'p_frequency_description: what it means. p_frequency_tolerance: how much earlier a start may be; '
'for a new frequency NULL means 5 % of the interval, at most 70 minutes. Errors: OM005, OM013. '
'Locks: the frequency row.';
GRANT EXECUTE ON PROCEDURE omd.register_frequency TO omd_admin;
