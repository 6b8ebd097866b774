-- A reader that finds nothing for it makes no window, and what it has passed need not be kept.

CREATE OR REPLACE FUNCTION omd.note_passed(
    p_module_id integer,
    p_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_passed$
BEGIN
    UPDATE omd.source_reader AS r SET passed_id = p_id
    WHERE r.module_id = p_module_id AND r.passed_id IS DISTINCT FROM p_id;
END
$note_passed$;

COMMENT ON FUNCTION omd.note_passed IS
'For rooms: Writes down that the Module p_module_id has passed the position p_id of its source '
'without a window; NULL: its windows say how far it has come. Locks: its row as a reader.';
