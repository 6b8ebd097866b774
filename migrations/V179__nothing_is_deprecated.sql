-- V179: nothing is deprecated, so nothing warns of it. Applied once.

DO $do$
BEGIN
    IF to_regprocedure('omd._warn_deprecated(regprocedure)') IS NOT NULL THEN
        COMMENT ON FUNCTION omd._warn_deprecated(regprocedure) IS 'Retired.';
    END IF;
END
$do$;
