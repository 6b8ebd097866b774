-- V029: a worker tells tasks that have simply succeeded apart from the other results. Applied once.
-- _complete_and_claim has a parameter more; its file creates it again, with a default for the
-- workers of before.

DO $do$
BEGIN
    IF to_regproc('omd_dispatch._complete_and_claim') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_dispatch._complete_and_claim IS 'Retired.';
        ALTER ROUTINE omd_dispatch._complete_and_claim RENAME TO _former_complete_and_claim;
    END IF;
END
$do$;
