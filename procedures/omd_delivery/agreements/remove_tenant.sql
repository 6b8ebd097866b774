-- What was delivered under an agreement stays explained by its tenant.

CREATE OR REPLACE PROCEDURE omd_delivery.remove_tenant(
    p_tenant_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $remove_tenant$
DECLARE
    v_tenant_id integer;
    v_agreement_code text;
BEGIN
    PERFORM omd.require_name('p_tenant_code', p_tenant_code);
    SELECT t.tenant_id INTO v_tenant_id
    FROM omd_delivery.tenant AS t
    WHERE t.tenant_code = p_tenant_code
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM032', jsonb_build_object('tenant_code', p_tenant_code));
    END IF;
    SELECT a.agreement_code INTO v_agreement_code
    FROM omd_delivery.agreement AS a
    WHERE a.tenant_id = v_tenant_id
    ORDER BY a.agreement_code
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM136',
            jsonb_build_object(
                'object', format('tenant "%s"', p_tenant_code),
                'used_by', format('agreement "%s"', v_agreement_code)
            )
        );
    END IF;
    DELETE FROM omd_delivery.tenant AS t WHERE t.tenant_id = v_tenant_id;
END
$remove_tenant$;

COMMENT ON PROCEDURE omd_delivery.remove_tenant IS
'Removes the tenant p_tenant_code. Errors: OM005: p_tenant_code is NULL; OM013: it is blank or '
'too long; OM032: there is no such tenant; OM136: an agreement uses it. Locks: the tenant. Call '
'again when the answer was lost; OM032 says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_delivery.remove_tenant TO omd_admin;
