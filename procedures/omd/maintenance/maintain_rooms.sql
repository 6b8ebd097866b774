-- A routine of a room that fails stops nobody else; it comes again when it is due. What it locks,
-- runs of other Modules wait for, so nobody may hold it in a transaction of his own. A procedure
-- that can look at that has no search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd.maintain_rooms(
    INOUT p_routine text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $maintain_rooms$
BEGIN
    CALL omd.require_no_transaction_block('omd.maintain_rooms');
    p_routine := omd._claim_maintenance();
    IF p_routine IS NOT NULL THEN
        BEGIN
            PERFORM pg_catalog.set_config('omd.maintenance', p_routine, TRUE);
            EXECUTE pg_catalog.format('SELECT %s()', p_routine);
        EXCEPTION
            WHEN OTHERS THEN
                RAISE WARNING USING
                    MESSAGE = pg_catalog.format('%s failed: %s', p_routine, SQLERRM);
        END;
    END IF;
END
$maintain_rooms$;

COMMENT ON PROCEDURE omd.maintain_rooms IS
'For rooms: calls the routine of omd.maintenance that is due, and returns its name (p_routine); '
'NULL: none is. Errors: OM018: it is called in a transaction block. Locks: what that takes.';
GRANT EXECUTE ON PROCEDURE omd.maintain_rooms TO omd_runner, omd_admin;
