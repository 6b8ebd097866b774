-- Every routine about a delivery begins here.

CREATE OR REPLACE FUNCTION omd_delivery._require_delivery(
    p_delivery_id bigint
)
RETURNS omd_delivery.delivery
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    p_delivery_id := omd.require_argument('p_delivery_id', p_delivery_id);
    SELECT d.* INTO v_delivery
    FROM omd_delivery.delivery AS d
    WHERE d.delivery_id = p_delivery_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM034', jsonb_build_object('delivery_id', p_delivery_id));
    END IF;
    RETURN v_delivery;
END
$require_delivery$;

COMMENT ON FUNCTION omd_delivery._require_delivery IS
'Returns the delivery p_delivery_id. Errors: OM005: it is NULL; OM034: there is none. Locks: '
'none.';
