-- Files are not ours: whoever was erased may stand in them.

CREATE OR REPLACE FUNCTION omd_delivery.note_erasure(
    p_entity_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_erasure$
BEGIN
    UPDATE omd_delivery.entity AS e SET erased_datetime = clock_timestamp()
    WHERE e.entity_id = p_entity_id;
END
$note_erasure$;

COMMENT ON FUNCTION omd_delivery.note_erasure IS
'For rooms: Notes that somebody was erased from the entity p_entity_id: deliveries of it from '
'before come again by hand, and not from their files. Locks: the row of the entity.';
REVOKE ALL ON FUNCTION omd_delivery.note_erasure FROM PUBLIC;
