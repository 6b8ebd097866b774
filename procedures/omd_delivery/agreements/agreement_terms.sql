-- What the facts need of an agreement of their layers before they make a delivery under it.

CREATE OR REPLACE FUNCTION omd_delivery.agreement_terms(
    p_agreement_code text,
    OUT interface_code text,
    OUT layer_code text,
    OUT options jsonb,
    OUT is_effective boolean
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $agreement_terms$
BEGIN
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    SELECT
        i.interface_code,
        a.layer_code,
        a.options,
        a.inactive_indicator = 'N'
        AND coalesce(a.effective_from <= current_date, TRUE)
        AND coalesce(a.effective_to >= current_date, TRUE)
    INTO interface_code, layer_code, options, is_effective
    FROM omd_delivery.agreement AS a
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE a.agreement_code = p_agreement_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM033', jsonb_build_object('agreement_code', p_agreement_code));
    END IF;
END
$agreement_terms$;

COMMENT ON FUNCTION omd_delivery.agreement_terms IS
'For rooms: Returns the interface, the layer and the options of the agreement p_agreement_code, '
'and whether it takes deliveries today. Errors: OM005: p_agreement_code is NULL; OM013: it is not '
'allowed as a name; OM033: there is no such agreement. Locks: none.';
