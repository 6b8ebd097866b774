-- It shows what was exported as files, and what waits for it.

CREATE OR REPLACE VIEW omd_report.facts_exports AS
SELECT
    x.delivery_id,
    x.agreement_code,
    i.interface_code,
    d.delivery_status,
    x.export_mode,
    x.as_of,
    x.target_uri,
    x.options,
    e.entity_codes,
    x.attempt,
    x.module_instance_id,
    x.manifest,
    x.created_datetime,
    x.exported_datetime
FROM omd_facts.export AS x
INNER JOIN omd_facts.interface AS i ON x.interface_id = i.interface_id
INNER JOIN omd_delivery.delivery AS d ON x.delivery_id = d.delivery_id
CROSS JOIN LATERAL (
    SELECT array_agg(f.entity_code ORDER BY f.load_order) AS entity_codes
    FROM omd_facts.export_entity AS n
    INNER JOIN omd_facts.entity AS f ON n.entity_id = f.entity_id
    WHERE n.delivery_id = x.delivery_id
) AS e;

COMMENT ON VIEW omd_report.facts_exports IS 'The exports of facts.';
COMMENT ON COLUMN omd_report.facts_exports.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.facts_exports.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.facts_exports.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.facts_exports.delivery_status IS 'RECEIVED, EXPORTED or CANCELLED.';
COMMENT ON COLUMN omd_report.facts_exports.export_mode IS 'FULL or CHANGES.';
COMMENT ON COLUMN omd_report.facts_exports.as_of IS 'The moment of its rows.';
COMMENT ON COLUMN omd_report.facts_exports.target_uri IS
'The folder under which its files go.';
COMMENT ON COLUMN omd_report.facts_exports.options IS
'The options: max_concurrent_entities, partitions, compression.';
COMMENT ON COLUMN omd_report.facts_exports.entity_codes IS 'The entities.';
COMMENT ON COLUMN omd_report.facts_exports.attempt IS 'How many runs of it have begun.';
COMMENT ON COLUMN omd_report.facts_exports.module_instance_id IS
'The Module Instance of its newest run; NULL: none has begun.';
COMMENT ON COLUMN omd_report.facts_exports.manifest IS 'What was published; NULL before.';
COMMENT ON COLUMN omd_report.facts_exports.created_datetime IS 'When it was ordered.';
COMMENT ON COLUMN omd_report.facts_exports.exported_datetime IS
'When it was finished; NULL: it is not.';
