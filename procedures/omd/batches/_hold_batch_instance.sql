-- A Module must not begin in a Batch Instance that ends before the begin commits, so the begin
-- locks it; other begins take the same shared lock.

CREATE OR REPLACE FUNCTION omd._hold_batch_instance(
    p_batch_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_batch_instance$
DECLARE
    v_may_run boolean;
BEGIN
    IF coalesce(p_batch_instance_id, 0) = 0 THEN
        RETURN;
    END IF;
    SELECT bi.execution_status_code = 'E' AND bi.processing_indicator = 'P' INTO v_may_run
    FROM omd.batch_instance AS bi
    WHERE bi.batch_instance_id = p_batch_instance_id
    FOR SHARE;
    IF v_may_run IS NOT TRUE THEN
        PERFORM omd._raise_batch_instance_state(p_batch_instance_id, 'run a Module');
    END IF;
END
$hold_batch_instance$;

COMMENT ON FUNCTION omd._hold_batch_instance IS
'Keeps the Batch Instance p_batch_instance_id (NULL or 0: none) from ending before the '
'transaction of the caller does. It raises an error when the Batch Instance may not run Modules '
'any more. Errors: OM003, OM101, OM102. Locks: the Batch Instance FOR SHARE.';
