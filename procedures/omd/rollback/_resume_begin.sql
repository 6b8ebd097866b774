-- A rollback may have taken longer than the lease, so the lease starts again after it, and the
-- Batch must still execute.

CREATE OR REPLACE FUNCTION omd._resume_begin(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $resume_begin$
DECLARE
    v_instance omd.module_instance;
BEGIN
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
    IF v_instance.execution_status_code = 'E'
        AND v_instance.start_datetime >= transaction_timestamp()
        AND v_instance.lease_expires_at IS NOT NULL
    THEN
        UPDATE omd.module_instance AS mi SET
            lease_expires_at = clock_timestamp() + (mi.lease_expires_at - mi.start_datetime)
        WHERE mi.module_instance_id = p_module_instance_id;
    END IF;
    IF v_instance.batch_instance_id <> 0 THEN
        PERFORM omd._hold_batch_instance(v_instance.batch_instance_id);
    END IF;
END
$resume_begin$;

COMMENT ON FUNCTION omd._resume_begin IS
'Renews the lease of a Module Instance that was created in this transaction, after its rollback, '
'and keeps its Batch Instance from ending before the transaction does. Errors: OM101 (the Batch '
'has ended). Locks: the instance row; its Batch Instance FOR SHARE.';
GRANT EXECUTE ON FUNCTION omd._resume_begin TO omd_runner;
