-- The mark of an entity is that of the newest delivery of it that stands, or of the facts. A later
-- one that stands goes back to what was before the one that is taken back.

CREATE OR REPLACE FUNCTION omd_delivery._revert_mark(
    p_delivery_id bigint,
    p_entity_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $revert_mark$
DECLARE
    v_former record;
BEGIN
    SELECT de.former_snapshot_datetime, de.former_delivery_id INTO v_former
    FROM omd_delivery.delivery_entity AS de
    WHERE de.delivery_id = p_delivery_id AND de.entity_id = p_entity_id;
    UPDATE omd_delivery.delivery_entity AS de SET
        former_snapshot_datetime = v_former.former_snapshot_datetime,
        former_delivery_id = v_former.former_delivery_id
    WHERE de.entity_id = p_entity_id AND de.former_delivery_id = p_delivery_id;
    DELETE FROM omd_delivery.high_water_mark AS m
    WHERE m.entity_id = p_entity_id
        AND m.delivery_id = p_delivery_id
        AND v_former.former_snapshot_datetime IS NULL;
    UPDATE omd_delivery.high_water_mark AS m SET
        snapshot_datetime = v_former.former_snapshot_datetime,
        delivery_id = v_former.former_delivery_id
    WHERE m.entity_id = p_entity_id AND m.delivery_id = p_delivery_id;
END
$revert_mark$;

COMMENT ON FUNCTION omd_delivery._revert_mark IS
'Takes the mark that the delivery p_delivery_id has set in the entity p_entity_id back to what it '
'was before; a later one stays. Locks: the mark.';
