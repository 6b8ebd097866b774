-- V025: a session that takes many steps keeps the plans of their statements. Applied once.
-- _insert_transform has a parameter more; its file creates it again.

DO $do$
BEGIN
    IF to_regproc('omd_lineage._insert_transform') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_lineage._insert_transform IS 'Retired.';
        ALTER ROUTINE omd_lineage._insert_transform RENAME TO _former_insert_transform;
    END IF;
END
$do$;
