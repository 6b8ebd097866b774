-- A tenant without agreements is shown too.

CREATE OR REPLACE VIEW omd_report.delivery_tenants AS
SELECT
    t.tenant_code,
    t.tenant_name,
    coalesce(
        (
            SELECT array_agg(a.agreement_code ORDER BY a.agreement_code)
            FROM omd_delivery.agreement AS a
            WHERE a.tenant_id = t.tenant_id
        ),
        '{}'
    ) AS agreement_codes
FROM omd_delivery.tenant AS t;

COMMENT ON VIEW omd_report.delivery_tenants IS 'Who delivers.';
COMMENT ON COLUMN omd_report.delivery_tenants.tenant_code IS 'The tenant.';
COMMENT ON COLUMN omd_report.delivery_tenants.tenant_name IS 'Its name.';
COMMENT ON COLUMN omd_report.delivery_tenants.agreement_codes IS 'Its agreements.';
