-- What the facts need of the agreement of a delivery of their layers.

CREATE OR REPLACE FUNCTION omd_delivery.delivery_terms(
    p_delivery_id bigint,
    OUT entity_ids integer[],
    OUT options jsonb
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delivery_terms$
BEGIN
    SELECT a.entity_ids, d.options
    INTO entity_ids, options
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a USING (agreement_id)
    WHERE d.delivery_id = p_delivery_id;
END
$delivery_terms$;

COMMENT ON FUNCTION omd_delivery.delivery_terms IS
'For rooms: Returns the entities that may be delivered under the agreement of the delivery '
'p_delivery_id (NULL: all), and its options; NULLs when there is no such delivery. Locks: none.';
