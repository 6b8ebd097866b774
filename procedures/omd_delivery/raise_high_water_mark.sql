-- What was changed by hand in the facts must not be overtaken by older data.

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
'it. Locks: the mark.';
REVOKE ALL ON FUNCTION omd_delivery.raise_high_water_mark FROM PUBLIC;
