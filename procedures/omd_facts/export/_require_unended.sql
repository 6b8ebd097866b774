-- The status of the delivery says it, which delivery keeps.

CREATE OR REPLACE FUNCTION omd_facts._require_unended(
    p_delivery_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_unended$
DECLARE
    v_status text;
BEGIN
    SELECT d.delivery_status INTO v_status FROM omd_delivery.delivery_head(p_delivery_id) AS d;
    IF v_status <> 'RECEIVED' THEN
        PERFORM omd.raise_error(
            'OM155',
            jsonb_build_object('delivery_id', p_delivery_id, 'delivery_status', v_status)
        );
    END IF;
END
$require_unended$;

COMMENT ON FUNCTION omd_facts._require_unended IS
'Raises OM155 when the export p_delivery_id has ended. Locks: none.';
