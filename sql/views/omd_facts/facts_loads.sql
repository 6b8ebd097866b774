-- It shows what was loaded, and what of it was undone.

CREATE OR REPLACE VIEW omd_report.facts_loads AS
SELECT
    l.module_instance_id,
    i.interface_code,
    l.queue_id,
    l.delivery_id,
    l.load_kind,
    l.transaction_datetime,
    l.row_counts,
    l.loaded_datetime,
    l.undone_by
FROM omd_facts.load_log AS l
INNER JOIN omd_facts.interface AS i ON l.interface_id = i.interface_id;

COMMENT ON VIEW omd_report.facts_loads IS 'The loads that succeeded.';
COMMENT ON COLUMN omd_report.facts_loads.module_instance_id IS
'The Module Instance that loaded.';
COMMENT ON COLUMN omd_report.facts_loads.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.facts_loads.queue_id IS 'The item of the queue; NULL for RESYNC.';
COMMENT ON COLUMN omd_report.facts_loads.delivery_id IS 'The delivery; NULL for RESYNC.';
COMMENT ON COLUMN omd_report.facts_loads.load_kind IS 'LOAD or RESYNC.';
COMMENT ON COLUMN omd_report.facts_loads.transaction_datetime IS 'T: the time of its rows.';
COMMENT ON COLUMN omd_report.facts_loads.row_counts IS 'What it wrote, per entity.';
COMMENT ON COLUMN omd_report.facts_loads.loaded_datetime IS 'When it was loaded.';
COMMENT ON COLUMN omd_report.facts_loads.undone_by IS
'The Module Instance that undid it; NULL: it stands.';
