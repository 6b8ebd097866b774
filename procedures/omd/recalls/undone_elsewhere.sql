-- A setting that was never made is NULL, and one whose transaction has ended is empty.

CREATE OR REPLACE FUNCTION omd.undone_elsewhere()
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT coalesce(
        nullif(current_setting('omd.undone_elsewhere', TRUE), '')::bigint[], '{}'
    );
END;

COMMENT ON FUNCTION omd.undone_elsewhere IS
'For rooms: Returns the runs whose rows outside of this database are taken back by this '
'transaction itself (note_undone_elsewhere), so that a recall in it need not leave them to their '
'Modules. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.undone_elsewhere TO omd_admin;
