-- The counts are those of the newest run.

CREATE OR REPLACE VIEW omd_report.delivery_log AS
SELECT
    d.delivery_id,
    t.tenant_code,
    a.agreement_code,
    i.interface_code,
    d.layer_code,
    d.snapshot_datetime,
    d.delivery_status,
    d.verdict,
    d.attempt,
    d.batch_instance_id,
    d.is_dry_run,
    d.delete_type,
    d.model_version,
    d.created_datetime,
    d.status_datetime,
    d.created_by,
    t.tenant_name,
    d.message,
    omd_delivery._execution_status(d.delivery_status, d.verdict) AS execution_status_code
FROM omd_delivery.delivery AS d
INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
INNER JOIN omd_delivery.tenant AS t ON a.tenant_id = t.tenant_id
INNER JOIN omd_delivery.interface AS i ON d.interface_id = i.interface_id;

COMMENT ON VIEW omd_report.delivery_log IS 'All deliveries.';
COMMENT ON COLUMN omd_report.delivery_log.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_report.delivery_log.tenant_code IS 'The tenant.';
COMMENT ON COLUMN omd_report.delivery_log.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.delivery_log.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_log.layer_code IS 'The layer.';
COMMENT ON COLUMN omd_report.delivery_log.snapshot_datetime IS
'Its time T; NULL outside of LVL where none was given.';
COMMENT ON COLUMN omd_report.delivery_log.delivery_status IS 'Its status.';
COMMENT ON COLUMN omd_report.delivery_log.verdict IS 'Its verdict; NULL before it is decided.';
COMMENT ON COLUMN omd_report.delivery_log.attempt IS
'The number of its newest run; 0: it has not begun.';
COMMENT ON COLUMN omd_report.delivery_log.batch_instance_id IS
'The Batch Instance of the newest run; NULL before the first.';
COMMENT ON COLUMN omd_report.delivery_log.is_dry_run IS 'It was validated without effect.';
COMMENT ON COLUMN omd_report.delivery_log.delete_type IS 'LOGICAL or PHYSICAL.';
COMMENT ON COLUMN omd_report.delivery_log.model_version IS
'The version of the model by which it was validated; NULL before its first run.';
COMMENT ON COLUMN omd_report.delivery_log.created_datetime IS 'When it was created.';
COMMENT ON COLUMN omd_report.delivery_log.status_datetime IS 'Since when it has its status.';
COMMENT ON COLUMN omd_report.delivery_log.created_by IS 'Who created it.';
COMMENT ON COLUMN omd_report.delivery_log.tenant_name IS 'The name of the tenant.';
COMMENT ON COLUMN omd_report.delivery_log.message IS 'The words of the sender; NULL: none.';
COMMENT ON COLUMN omd_report.delivery_log.execution_status_code IS
'The execution status of what became of it: E, it is not decided; S; F, it was refused or '
'rejected; C, it was cancelled or taken back.';
