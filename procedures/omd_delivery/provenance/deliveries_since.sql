-- Who takes back what an agreement has delivered since a day means what counts.

CREATE OR REPLACE FUNCTION omd_delivery.deliveries_since(
    p_agreement_code text,
    p_since timestamptz
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $deliveries_since$
DECLARE
    v_agreement_id integer;
BEGIN
    SELECT a.agreement_id INTO v_agreement_id
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM033', jsonb_build_object('agreement_code', p_agreement_code));
    END IF;
    RETURN ARRAY(
        SELECT d.delivery_id
        FROM omd_delivery.delivery AS d
        WHERE d.agreement_id = v_agreement_id
            AND d.snapshot_datetime >= p_since
            AND d.delivery_status LIKE ANY('{ACCEPTED,PERSISTED%}')
        ORDER BY d.delivery_id
    );
END
$deliveries_since$;

COMMENT ON FUNCTION omd_delivery.deliveries_since IS
'For rooms: Returns the deliveries under the agreement p_agreement_code that LVL has accepted, '
'with a snapshot from p_since on. Errors: OM033. Locks: none.';
