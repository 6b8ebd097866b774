-- V125: facts: as_of and open_delivery may set for the transaction only. Applied once.

-- They stay under another name for the calls that are on their way: dropped, they would be missed.
DO $do$
BEGIN
    IF to_regprocedure('omd_facts.as_of(timestamptz)') IS NOT NULL THEN
        ALTER FUNCTION omd_facts.as_of(timestamptz) RENAME TO _as_of_before;
        COMMENT ON FUNCTION omd_facts._as_of_before IS 'Retired.';
    END IF;
    IF to_regprocedure('omd_facts.open_delivery(text, boolean, bigint)') IS NOT NULL THEN
        ALTER PROCEDURE omd_facts.open_delivery(text, boolean, bigint)
        RENAME TO _open_delivery_before;
        COMMENT ON PROCEDURE omd_facts._open_delivery_before IS 'Retired.';
    END IF;
END
$do$;
