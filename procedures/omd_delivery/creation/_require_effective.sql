-- What every new delivery is held against, of whatever layer.

CREATE OR REPLACE FUNCTION omd_delivery._require_effective(
    p_agreement omd_delivery.agreement,
    p_snapshot_datetime timestamptz
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_effective$
BEGIN
    IF p_agreement.inactive_indicator = 'Y'
        OR p_agreement.effective_from > current_date
        OR p_agreement.effective_to < current_date
    THEN
        PERFORM omd.raise_error(
            'OM232',
            jsonb_build_object(
                'agreement_code', p_agreement.agreement_code,
                'problem', CASE
                    WHEN p_agreement.inactive_indicator = 'Y' THEN 'is inactive'
                    ELSE format(
                        'is effective from %s to %s',
                        coalesce(p_agreement.effective_from::text, 'the beginning'),
                        coalesce(p_agreement.effective_to::text, 'the end')
                    )
                END
            )
        );
    ELSIF p_agreement.layer_code = 'LVL' AND p_snapshot_datetime > clock_timestamp() THEN
        PERFORM omd.raise_error(
            'OM038', jsonb_build_object('snapshot_datetime', p_snapshot_datetime)
        );
    END IF;
END
$require_effective$;

COMMENT ON FUNCTION omd_delivery._require_effective IS
'Refuses a delivery of p_agreement at p_snapshot_datetime. Errors: OM038: that is in the future, '
'for LVL; OM232: the agreement is inactive, or not effective today. Locks: none.';
