-- A begin that has to undo a load does not wait for readers: it would keep others from their
-- Modules. It lets no new one begin, its caller commits that, and the next call finds none at work.
-- As undo does, it has the interface before the Module.

CREATE OR REPLACE FUNCTION omd_facts._waits_for_readers(
    p_interface_id integer,
    p_module_id integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $waits_for_readers$
BEGIN
    IF NOT EXISTS (
        -- OFFSET keeps the look-up by run: an index of what stands would be read whole.
        SELECT FROM unnest(omd.pending_rollback(p_module_id)) AS p (id)
        CROSS JOIN LATERAL (
            SELECT l.interface_id, l.undone_by FROM omd_facts.load_log AS l
            WHERE l.module_instance_id = p.id
            OFFSET 0
        ) AS l
        WHERE l.interface_id = p_interface_id AND l.undone_by IS NULL
    ) THEN
        RETURN FALSE;
    END IF;
    PERFORM omd_facts._require_undoable(p_interface_id, omd.pending_rollback(p_module_id));
    IF NOT (
        omd_facts._take_interface(p_interface_id, interval '1 millisecond')
    ).p_is_taken THEN
        PERFORM omd.close_source(omd_facts._source_code(p_interface_id), interval '90 seconds');
        RETURN TRUE;
    END IF;
    RETURN FALSE;
END
$waits_for_readers$;

COMMENT ON FUNCTION omd_facts._waits_for_readers IS
'Returns whether the next load of the interface p_interface_id, whose Module is p_module_id, '
'undoes loads whose facts are being read: no run begins to read them then. Else, if it undoes '
'any, it holds their position and the interface. Errors: OM153: they can''t be undone. Locks: the '
'position; the interface in both rooms.';
