-- Its files, and whatever else it came from, may still name the person.

CREATE OR REPLACE FUNCTION omd_delivery.precedes_erasure(
    p_delivery_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $precedes_erasure$
BEGIN
    RETURN EXISTS (
        SELECT FROM omd_delivery.delivery_entity AS de
        INNER JOIN omd_delivery.erased_entity AS x USING (entity_id)
        WHERE de.delivery_id = p_delivery_id AND x.delivery_id >= p_delivery_id
    );
END
$precedes_erasure$;

COMMENT ON FUNCTION omd_delivery.precedes_erasure IS
'For rooms: Returns whether somebody was erased from an entity of the delivery p_delivery_id after '
'it was created. Locks: none.';
REVOKE ALL ON FUNCTION omd_delivery.precedes_erasure FROM PUBLIC;
