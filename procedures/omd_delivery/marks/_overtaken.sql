-- The time of a delivery is later than all before it of each of its entities.

CREATE OR REPLACE FUNCTION omd_delivery._overtaken(
    p_delivery_id bigint
)
RETURNS TABLE (
    entity_code text,
    high_water_mark timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $overtaken$
BEGIN
    RETURN QUERY
    SELECT e.entity_code, m.snapshot_datetime
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.delivery_entity AS de USING (delivery_id)
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    INNER JOIN omd_delivery.high_water_mark AS m USING (entity_id)
    WHERE d.delivery_id = p_delivery_id AND d.snapshot_datetime <= m.snapshot_datetime
    ORDER BY e.ordinal
    LIMIT 1;
END
$overtaken$;

COMMENT ON FUNCTION omd_delivery._overtaken IS
'One row or none: the first entity of the delivery p_delivery_id that was delivered at the same '
'time or later, and its mark. Locks: none.';
