-- It shows the proof of physical deletes in every layer, since one request removes from all.

CREATE OR REPLACE VIEW omd_report.facts_removals AS
SELECT
    r.removal_id,
    r.delivery_id,
    i.interface_code,
    e.entity_code,
    r.layer,
    r.table_name,
    r.key_count,
    r.row_count,
    r.removed_datetime,
    r.module_instance_id
FROM omd_delivery.removal AS r
INNER JOIN omd_delivery.entity AS e ON r.entity_id = e.entity_id
INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id;

COMMENT ON VIEW omd_report.facts_removals IS
'The proof of physical deletes: how many rows left which table. It holds no key.';
COMMENT ON COLUMN omd_report.facts_removals.removal_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_report.facts_removals.delivery_id IS 'The delivery that asked for it.';
COMMENT ON COLUMN omd_report.facts_removals.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.facts_removals.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.facts_removals.layer IS
'LVL, DELTA, STAGING and SAMPLE of delivery; CONTEXT and ANCHOR of the facts.';
COMMENT ON COLUMN omd_report.facts_removals.table_name IS 'The table.';
COMMENT ON COLUMN omd_report.facts_removals.key_count IS 'How many keys were to leave it.';
COMMENT ON COLUMN omd_report.facts_removals.row_count IS 'How many rows left it.';
COMMENT ON COLUMN omd_report.facts_removals.removed_datetime IS 'When.';
COMMENT ON COLUMN omd_report.facts_removals.module_instance_id IS
'The Module Instance that did it; NULL where none is known.';
