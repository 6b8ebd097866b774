-- A run of an export may be part of a Batch, so its begin has more parameters: its file creates it
-- again. A call that executes the former one goes on.
DO $do$
BEGIN
    IF to_regproc('omd_facts.begin_export') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_facts.begin_export IS 'Retired.';
        ALTER ROUTINE omd_facts.begin_export RENAME TO _former_begin_export;
    END IF;
END
$do$;
