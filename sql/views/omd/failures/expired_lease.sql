-- Each branch reads the index of executing instances, so the cost does not grow with history.

CREATE OR REPLACE VIEW omd.expired_lease AS
SELECT
    'BATCH' AS instance_type,
    b.batch_code AS code,
    min(bi.batch_instance_id) AS instance_id,
    min(bi.lease_expires_at) AS since_datetime,
    'its lease has expired; a begin, or omd.reap_expired_instances, declares it dead' AS detail
FROM omd.batch_instance AS bi
INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
WHERE bi.execution_status_code = 'E' AND bi.lease_expires_at < statement_timestamp()
GROUP BY b.batch_code
UNION ALL
SELECT
    'MODULE' AS instance_type,
    m.module_code AS code,
    min(mi.module_instance_id) AS instance_id,
    min(mi.lease_expires_at) AS since_datetime,
    'its lease has expired; a begin, or omd.reap_expired_instances, declares it dead' AS detail
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE mi.execution_status_code = 'E' AND mi.lease_expires_at < statement_timestamp()
GROUP BY m.module_code;

COMMENT ON VIEW omd.expired_lease IS
'For rooms: '
'The Batches and Modules with a run whose lease has expired, and that nobody has declared dead '
'yet.';
COMMENT ON COLUMN omd.expired_lease.instance_type IS 'BATCH or MODULE.';
COMMENT ON COLUMN omd.expired_lease.code IS 'The code of the Batch or Module.';
COMMENT ON COLUMN omd.expired_lease.instance_id IS 'The oldest such instance.';
COMMENT ON COLUMN omd.expired_lease.since_datetime IS 'When the first of these leases expired.';
COMMENT ON COLUMN omd.expired_lease.detail IS 'What becomes of it.';
