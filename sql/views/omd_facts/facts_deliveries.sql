-- It shows who may write through views now; a delivery that stays open is easily forgotten.

CREATE OR REPLACE VIEW omd_report.facts_deliveries AS
SELECT
    d.delivery_id,
    d.agreement_code,
    i.interface_code,
    d.is_physical_delete_allowed,
    d.opened_by,
    d.opened_datetime,
    d.module_instance_id,
    t.transactions,
    t.last_transaction
FROM omd_facts.gdal_delivery AS d
INNER JOIN omd_facts.interface AS i ON d.interface_id = i.interface_id
CROSS JOIN
    LATERAL (
        SELECT
            count(*) AS transactions,
            max(l.transaction_datetime) AS last_transaction
        FROM omd_facts.transaction_log AS l
        WHERE l.delivery_id = d.delivery_id
    ) AS t
WHERE d.closed_datetime IS NULL;

COMMENT ON VIEW omd_report.facts_deliveries IS
'The open deliveries, under which rows are written through views.';
COMMENT ON COLUMN omd_report.facts_deliveries.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.facts_deliveries.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.facts_deliveries.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.facts_deliveries.is_physical_delete_allowed IS
'A session may delete physically under it.';
COMMENT ON COLUMN omd_report.facts_deliveries.opened_by IS 'Who opened it.';
COMMENT ON COLUMN omd_report.facts_deliveries.opened_datetime IS 'When it was opened.';
COMMENT ON COLUMN omd_report.facts_deliveries.module_instance_id IS
'Its Module Instance, which is on every row that is written under it.';
COMMENT ON COLUMN omd_report.facts_deliveries.transactions IS
'How many transactions have written under it.';
COMMENT ON COLUMN omd_report.facts_deliveries.last_transaction IS
'T of the last one; NULL: there is none.';
