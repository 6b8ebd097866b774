-- V220: what makes a text of a template is in process control. Applied once.

-- It stays for the calls that are on their way: dropped, it would be missed.
DO $do$
BEGIN
    IF to_regprocedure('omd_facts._render(text, jsonb)') IS NOT NULL THEN
        COMMENT ON FUNCTION omd_facts._render(text, jsonb) IS 'Retired.';
    END IF;
END
$do$;
