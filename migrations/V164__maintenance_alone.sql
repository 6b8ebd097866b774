-- V164: what maintains rooms is refused in a transaction block, so it is a procedure. Applied once.
-- A call that executes the function goes on under another name, until sql/cleanup/drop_retired.sql
-- drops it.

DO $do$
BEGIN
    IF EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regproc('omd.maintain_rooms') AND p.prokind = 'f'
    ) THEN
        COMMENT ON FUNCTION omd.maintain_rooms IS 'Retired.';
        ALTER FUNCTION omd.maintain_rooms RENAME TO _former_maintain_rooms;
    END IF;
END
$do$;
