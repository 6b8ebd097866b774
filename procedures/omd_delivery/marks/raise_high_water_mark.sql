-- What was changed by hand in the facts must not be overtaken by older data. Whoever has not taken
-- the lock of the interface yet waits here for a delivery that is being applied or reverted.

CREATE OR REPLACE FUNCTION omd_delivery.raise_high_water_mark(
    p_entity_id integer,
    p_snapshot_datetime timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_high_water_mark$
BEGIN
    PERFORM FROM omd_delivery.interface AS i
    WHERE i.interface_id = (
        SELECT e.interface_id FROM omd_delivery.entity AS e WHERE e.entity_id = p_entity_id
    )
    FOR NO KEY UPDATE;
    INSERT INTO omd_delivery.high_water_mark AS m (entity_id, snapshot_datetime, delivery_id)
    VALUES (p_entity_id, p_snapshot_datetime, NULL)
    ON CONFLICT (entity_id) DO UPDATE SET
        snapshot_datetime = excluded.snapshot_datetime,
        delivery_id = NULL
    WHERE m.snapshot_datetime < excluded.snapshot_datetime;
END
$raise_high_water_mark$;

COMMENT ON FUNCTION omd_delivery.raise_high_water_mark IS
'For rooms: Raises the mark of the entity p_entity_id to p_snapshot_datetime; it never lowers '
'it. Locks: the interface, the mark.';
