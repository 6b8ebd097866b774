-- Rows of an earlier time can't be put under those that are there.

CREATE OR REPLACE FUNCTION omd_delivery._require_marks(
    p_delivery_id bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_marks$
DECLARE
    v_overtaken record;
BEGIN
    SELECT o.* INTO v_overtaken FROM omd_delivery._overtaken(p_delivery_id) AS o;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM037',
            jsonb_build_object(
                'entity', v_overtaken.entity_code,
                'high_water_mark', v_overtaken.high_water_mark
            )
        );
    END IF;
END
$require_marks$;

COMMENT ON FUNCTION omd_delivery._require_marks IS
'Refuses the delivery p_delivery_id when it was overtaken. Errors: OM037: an entity of it was '
'delivered at the same time or later. Locks: none.';
