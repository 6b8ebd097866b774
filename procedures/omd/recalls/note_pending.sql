-- The rows of such a run are there until its rollback is confirmed, so its readers wait.

CREATE OR REPLACE FUNCTION omd.note_pending(
    p_instance_array bigint[],
    p_recall_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_pending$
BEGIN
    INSERT INTO omd.pending_recall (module_instance_id, recall_id)
    SELECT i.id, p_recall_id
    FROM unnest(p_instance_array) AS i (id)
    ON CONFLICT (module_instance_id) DO UPDATE SET recall_id = excluded.recall_id;
END
$note_pending$;

COMMENT ON FUNCTION omd.note_pending IS
'For rooms: Writes down that the recall p_recall_id wants the runs p_instance_array to be undone, '
'which have their next run indicator R. Locks: none.';
