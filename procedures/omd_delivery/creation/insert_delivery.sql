-- The facts make deliveries of their own layers, and tests make some of LVL.

CREATE OR REPLACE FUNCTION omd_delivery.insert_delivery(
    p_agreement_code text,
    p_layer_code text,
    p_snapshot_datetime timestamptz DEFAULT NULL,
    p_options jsonb DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $insert_delivery$
DECLARE
    v_agreement omd_delivery.agreement;
BEGIN
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    SELECT a.* INTO v_agreement
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code
    FOR KEY SHARE;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM033', jsonb_build_object('agreement_code', p_agreement_code));
    ELSIF v_agreement.layer_code IS DISTINCT FROM p_layer_code THEN
        PERFORM omd_delivery._raise_argument(
            'p_layer_code', p_layer_code, 'the layer of the agreement is ' || v_agreement.layer_code
        );
    ELSIF v_agreement.layer_code = 'LVL' AND p_snapshot_datetime IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_snapshot_datetime'));
    ELSIF p_snapshot_datetime < '0001-01-01 00:00:00+00'
        OR (v_agreement.layer_code <> 'LVL' AND p_snapshot_datetime > '9999-12-30 00:00:00+00')
    THEN
        PERFORM omd_delivery._raise_argument(
            'p_snapshot_datetime', p_snapshot_datetime::text,
            'it must be of a year from 0001 to 9999'
        );
    ELSIF jsonb_typeof(p_options) <> 'object' THEN
        PERFORM omd_delivery._raise_argument(
            'p_options', p_options::text, 'it must be an object'
        );
    END IF;
    PERFORM omd_delivery._require_effective(v_agreement, p_snapshot_datetime);
    RETURN omd_delivery._insert_delivery(
        v_agreement, p_snapshot_datetime, p_options, 'insert_delivery'
    );
END
$insert_delivery$;

COMMENT ON FUNCTION omd_delivery.insert_delivery IS
'For rooms: Inserts a delivery under the agreement p_agreement_code, of the layer p_layer_code, at'
' p_snapshot_datetime (NULL: none, outside of LVL), with p_options, and returns its id. Marks and '
'other deliveries are not looked at. Errors: OM005: an argument is missing; OM013: '
'p_agreement_code is not allowed as a name; OM033: there is no such agreement; OM036: it is of '
'another layer, p_snapshot_datetime is before 0001 or after 9999, or p_options is no object; '
'OM038: p_snapshot_datetime is in the future, for LVL; OM232: the agreement is inactive, or not '
'effective today. Locks: the agreement FOR KEY SHARE.';
