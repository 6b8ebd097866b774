-- The setting lasts for the transaction, in which the rows go too or nothing happens. It is the
-- word of the caller, as the confirmation of a rollback is.

CREATE OR REPLACE FUNCTION omd.note_undone_elsewhere(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_undone_elsewhere$
BEGIN
    PERFORM set_config('omd.undone_elsewhere', p_instance_array::text, TRUE);
END
$note_undone_elsewhere$;

COMMENT ON FUNCTION omd.note_undone_elsewhere IS
'For rooms: Says that the transaction of the caller takes the rows of the runs p_instance_array '
'back, whose targets are outside of this database. Locks: none.';
