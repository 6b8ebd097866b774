-- Gives up every dead instance, Modules and Batches. Locks: the instances it ends.

CREATE OR REPLACE PROCEDURE omd.reap_expired_instances(
    INOUT p_reaped bigint[] DEFAULT NULL,
    INOUT p_reaped_batches bigint[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reap_expired_instances$
BEGIN
    p_reaped := omd.give_up_module_instances(NULL);
    p_reaped_batches := omd.give_up_batch_instances(NULL);
END
$reap_expired_instances$;

COMMENT ON PROCEDURE omd.reap_expired_instances IS
'Gives up every Module and Batch Instance whose lease has passed or whose session is gone, '
'through the ordinary failure event. p_reaped: ids of the Module Instances, in order; '
'p_reaped_batches: of the Batch Instances. Safe to call at any time, by many at once. Locks: the '
'instances it ends.';
REVOKE ALL ON PROCEDURE omd.reap_expired_instances FROM PUBLIC;
