-- V182: register_module takes a hint. A call that executes the former one goes on under another
-- name, until sql/cleanup/drop_retired.sql drops it. Applied once.

DO $do$
BEGIN
    IF EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regproc('omd.register_module')
            AND NOT 'p_start_hint' = ANY(p.proargnames)
    ) THEN
        COMMENT ON PROCEDURE omd.register_module IS 'Retired.';
        ALTER PROCEDURE omd.register_module RENAME TO _former_register_module;
    END IF;
END
$do$;
