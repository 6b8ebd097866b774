-- One procedure both inserts and updates, so that a script of definitions can be run again.

CREATE OR REPLACE PROCEDURE omd_delivery.register_tenant(
    p_tenant_code text,
    p_tenant_name text DEFAULT NULL,
    INOUT p_tenant_id integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_tenant$
BEGIN
    PERFORM omd.require_name('p_tenant_code', p_tenant_code);
    INSERT INTO omd_delivery.tenant AS t (tenant_code, tenant_name)
    VALUES (p_tenant_code, coalesce(p_tenant_name, p_tenant_code))
    ON CONFLICT (tenant_code) DO UPDATE SET tenant_name = coalesce(p_tenant_name, t.tenant_name)
    RETURNING t.tenant_id INTO p_tenant_id;
END
$register_tenant$;

COMMENT ON PROCEDURE omd_delivery.register_tenant IS
'Inserts or updates the tenant p_tenant_code. p_tenant_name: its name; NULL keeps the present '
'one, and a new tenant is called by its code. Returns p_tenant_id. Errors: OM005: p_tenant_code '
'is NULL; OM013: it is blank or too long. Locks: the tenant. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.register_tenant TO omd_admin;
