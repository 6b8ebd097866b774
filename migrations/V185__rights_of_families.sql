-- V185: dispatch: what sets the rights of a family has another name. Applied once.

-- The former stays for the calls that are on their way: dropped, it would be missed.
DO $do$
BEGIN
    IF to_regprocedure('omd_dispatch._hide_errors(text)') IS NOT NULL THEN
        COMMENT ON PROCEDURE omd_dispatch._hide_errors IS 'Retired.';
    END IF;
END
$do$;
