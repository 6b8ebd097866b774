-- Files are not ours: whoever was erased may stand in them. A delivery is created under the lock of
-- the interface, so none of before is younger than the note.

CREATE OR REPLACE FUNCTION omd_delivery.note_erasure(
    p_interface_code text,
    p_entities text[]
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
    WHERE e.entity_code = ANY(p_entities)
        AND e.interface_id = (
            SELECT i.interface_id FROM omd_delivery.interface AS i
            WHERE i.interface_code = p_interface_code
        );
END
$note_erasure$;

COMMENT ON FUNCTION omd_delivery.note_erasure IS
'For rooms: Notes that somebody is erased from the entities p_entities of the interface '
'p_interface_code, which the caller holds: deliveries of them from before come again by hand, and '
'not from their files. Locks: the rows of the entities.';
