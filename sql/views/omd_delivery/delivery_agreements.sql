-- Codes stand where the table has ids.

CREATE OR REPLACE VIEW omd_report.delivery_agreements AS
SELECT
    a.agreement_code,
    t.tenant_code,
    t.tenant_name,
    i.interface_code,
    a.layer_code,
    a.effective_from,
    a.effective_to,
    (
        SELECT array_agg(e.entity_code ORDER BY e.ordinal)
        FROM omd_delivery.entity AS e
        WHERE e.entity_id = any(a.entity_ids)
    ) AS entities,
    a.completeness,
    a.context,
    a.settings,
    a.options,
    a.inactive_indicator,
    a.staging_schema,
    a.batch_code,
    a.arrival
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.tenant AS t ON a.tenant_id = t.tenant_id
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id;

COMMENT ON VIEW omd_report.delivery_agreements IS
'What each tenant may deliver to which interface, and how it is judged.';
COMMENT ON COLUMN omd_report.delivery_agreements.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.delivery_agreements.tenant_code IS 'The tenant.';
COMMENT ON COLUMN omd_report.delivery_agreements.tenant_name IS 'Its name.';
COMMENT ON COLUMN omd_report.delivery_agreements.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_agreements.layer_code IS 'The layer.';
COMMENT ON COLUMN omd_report.delivery_agreements.effective_from IS
'The first day of the agreement; NULL: it has none.';
COMMENT ON COLUMN omd_report.delivery_agreements.effective_to IS
'The last day of the agreement; NULL: it has none.';
COMMENT ON COLUMN omd_report.delivery_agreements.entities IS
'The entities that may be delivered; NULL: all that are not retired.';
COMMENT ON COLUMN omd_report.delivery_agreements.completeness IS
'COMPLETE: each delivery has all of its entities. PARTIAL: it need not.';
COMMENT ON COLUMN omd_report.delivery_agreements.context IS
'The keys that the tenant is bound to: entity and list of keys.';
COMMENT ON COLUMN omd_report.delivery_agreements.settings IS
'The fields of settings that override those of the model, by constraint.';
COMMENT ON COLUMN omd_report.delivery_agreements.options IS
'The options: allow_symbolic_links, csv, export, include_existing, lines, max_concurrent_entities, '
'max_sample_size.';
COMMENT ON COLUMN omd_report.delivery_agreements.inactive_indicator IS
'Y refuses new deliveries.';
COMMENT ON COLUMN omd_report.delivery_agreements.staging_schema IS
'The schema of its staging tables.';
COMMENT ON COLUMN omd_report.delivery_agreements.batch_code IS
'The Batch as which its deliveries run.';
COMMENT ON COLUMN omd_report.delivery_agreements.arrival IS
'Where its deliveries arrive as folders; NULL: nowhere.';
