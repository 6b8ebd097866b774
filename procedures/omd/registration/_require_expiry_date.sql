-- A rollback writes this text into the target, in whatever session begins the next run. So it must
-- be read alike by all of them: no word such as tomorrow, and no order of day and month that a
-- setting decides.

CREATE OR REPLACE FUNCTION omd._require_expiry_date(
    p_open_expiry_date text,
    p_platform_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
AS $require_expiry_date$
BEGIN
    IF p_open_expiry_date ~ '^[0-9]{4,6}-?[0-9]{2}-?[0-9]{2}([ T].+)?$' THEN
        BEGIN
            PERFORM p_open_expiry_date::timestamptz;
            RETURN;
        EXCEPTION
            WHEN data_exception OR invalid_parameter_value THEN
                NULL;
        END;
    ELSIF p_platform_code = 'POSTGRES' AND p_open_expiry_date = 'infinity'
        OR p_open_expiry_date IS NULL
    THEN
        RETURN;
    END IF;
    PERFORM omd.raise_error(
        'OM013',
        jsonb_build_object(
            'argument', 'p_open_expiry_date', 'value', p_open_expiry_date,
            'expected', 'a date or a moment as year-month-day, such as 9999-12-31'
            || CASE WHEN p_platform_code = 'POSTGRES' THEN ', or infinity' ELSE '' END
        )
    );
END
$require_expiry_date$;

COMMENT ON FUNCTION omd._require_expiry_date IS
'Raises OM013 unless p_open_expiry_date is NULL, or a date or moment that each session of '
'p_platform_code reads alike. No locks.';
