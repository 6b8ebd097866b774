-- V093: trace: edits and exports of facts are found by their run. A view goes, with a right that it
-- needed: omd_provenance.trace goes all the way where it went one step. Applied once.

CREATE INDEX ix_gdal_delivery_instance ON omd_facts.gdal_delivery (module_instance_id);
CREATE INDEX ix_export_instance ON omd_facts.export (module_instance_id)
WHERE module_instance_id IS NOT NULL;
DROP VIEW IF EXISTS omd_report.trace_steps;
REVOKE EXECUTE ON FUNCTION omd_dispatch.task_text FROM omd_reader;
