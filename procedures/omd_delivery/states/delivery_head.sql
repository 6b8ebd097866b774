-- What the facts need of a delivery of their layers.

CREATE OR REPLACE FUNCTION omd_delivery.delivery_head(
    p_delivery_id bigint,
    OUT interface_id integer,
    OUT interface_code text,
    OUT layer_code text,
    OUT delivery_status text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delivery_head$
BEGIN
    SELECT d.interface_id, i.interface_code, d.layer_code, d.delivery_status
    INTO interface_id, interface_code, layer_code, delivery_status
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE d.delivery_id = p_delivery_id;
END
$delivery_head$;

COMMENT ON FUNCTION omd_delivery.delivery_head IS
'For rooms: Returns the interface, layer and status of the delivery p_delivery_id; NULLs when '
'there is none. Locks: none.';
