-- V113: provenance: rows with a stamp are counted by one routine. Applied once.

DO $do$
BEGIN
    IF to_regprocedure('omd.count_stamped(text,text,bigint[])') IS NOT NULL THEN
        ALTER FUNCTION omd.count_stamped RENAME TO _former_count_stamped;
        COMMENT ON FUNCTION omd._former_count_stamped IS 'Retired.';
    END IF;
    IF to_regprocedure('omd._recall_counts(text,text,text,bigint[])') IS NOT NULL THEN
        COMMENT ON FUNCTION omd._recall_counts IS 'Retired.';
    END IF;
END
$do$;
