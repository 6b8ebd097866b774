-- A plain task and any other leave the same event.

CREATE OR REPLACE FUNCTION omd_dispatch._note_created(
    p_family_code text,
    p_task_type text,
    p_task_id bigint,
    p_is_new boolean
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_created$
BEGIN
    PERFORM omd.write_event(
        0, 0, 4, 'CREATED',
        format(
            '%s: task %s (%s %s)%s',
            omd.editor(), p_task_id, p_family_code, p_task_type,
            CASE WHEN NOT p_is_new THEN ', which was live already' END
        )
    );
END
$note_created$;

COMMENT ON FUNCTION omd_dispatch._note_created IS
'Writes the event that somebody has created the task p_task_id of the type p_task_type in '
'p_family_code by hand; p_is_new: it was not live already. Locks: none.';
