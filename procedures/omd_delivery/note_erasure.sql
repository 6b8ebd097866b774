-- A delivery is created under the lock of the interface, so none of before has a later number.

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
    INSERT INTO omd_delivery.erased_entity AS x (entity_id, delivery_id)
    SELECT e.entity_id, coalesce(d.delivery_id, 0)
    FROM omd_delivery.interface AS i
    INNER JOIN omd_delivery.entity AS e USING (interface_id)
    CROSS JOIN LATERAL (
        SELECT max(d.delivery_id) AS delivery_id
        FROM omd_delivery.delivery AS d
        WHERE d.interface_id = i.interface_id
    ) AS d
    WHERE i.interface_code = p_interface_code AND e.entity_code = ANY(p_entities)
    ORDER BY e.entity_id
    ON CONFLICT (entity_id) DO UPDATE SET
        delivery_id = excluded.delivery_id,
        erased_datetime = excluded.erased_datetime;
END
$note_erasure$;

COMMENT ON FUNCTION omd_delivery.note_erasure IS
'For rooms: Notes that somebody is erased from the entities p_entities of the interface '
'p_interface_code, which the caller holds. Locks: the notes.';
REVOKE ALL ON FUNCTION omd_delivery.note_erasure FROM PUBLIC;
