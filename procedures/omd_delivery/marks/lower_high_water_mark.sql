-- What the facts have raised goes back with what raised it.

CREATE OR REPLACE FUNCTION omd_delivery.lower_high_water_mark(
    p_entity_id integer,
    p_raised_datetime timestamptz,
    p_former_datetime timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lower_high_water_mark$
DECLARE
    v_newest record;
BEGIN
    PERFORM FROM omd_delivery.high_water_mark AS m
    WHERE m.entity_id = p_entity_id
        AND m.delivery_id IS NULL
        AND m.snapshot_datetime = p_raised_datetime
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT q.delivery_id, q.snapshot_datetime INTO v_newest
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.delta_queue AS q USING (delivery_id)
    WHERE de.entity_id = p_entity_id
    ORDER BY q.snapshot_datetime DESC
    LIMIT 1;
    -- Without a delivery the facts had raised it before.
    IF v_newest.snapshot_datetime >= coalesce(p_former_datetime, '-infinity') THEN
        UPDATE omd_delivery.high_water_mark AS m SET
            snapshot_datetime = v_newest.snapshot_datetime,
            delivery_id = v_newest.delivery_id
        WHERE m.entity_id = p_entity_id;
    ELSIF p_former_datetime IS NOT NULL THEN
        UPDATE omd_delivery.high_water_mark AS m SET snapshot_datetime = p_former_datetime
        WHERE m.entity_id = p_entity_id;
    ELSE
        DELETE FROM omd_delivery.high_water_mark AS m WHERE m.entity_id = p_entity_id;
    END IF;
END
$lower_high_water_mark$;

COMMENT ON FUNCTION omd_delivery.lower_high_water_mark IS
'For rooms: Takes the mark of the entity p_entity_id back that the facts had raised to '
'p_raised_datetime: to the newest delivery of it that stands, or to p_former_datetime, which the '
'facts had persisted before (NULL: nothing), if that is later. A mark that was raised further '
'stays. Locks: the mark.';
