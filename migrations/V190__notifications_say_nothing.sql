-- V190: a notification has no code and no state. Applied once.

-- The former stays for the calls that are on their way: dropped, it would be missed.
DO $do$
BEGIN
    IF to_regprocedure(
        'omd._notify_event(text, bigint, text, bigint, text, text, text, text, timestamptz)'
    ) IS NOT NULL THEN
        COMMENT ON FUNCTION omd._notify_event(
            text, bigint, text, bigint, text, text, text, text, timestamptz
        ) IS 'Retired.';
    END IF;
END
$do$;
