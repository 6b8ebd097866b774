-- V136: dispatch: what finds the lanes to claim from has another name. Applied once.

-- The former stays for the calls that are on their way: dropped, it would be missed.
DO $do$
BEGIN
    IF to_regprocedure('omd_dispatch._lanes_to_claim(text, timestamptz, jsonb, text[])') IS NOT NULL THEN
        COMMENT ON FUNCTION omd_dispatch._lanes_to_claim(text, timestamptz, jsonb, text[])
        IS 'Retired.';
    END IF;
END
$do$;
