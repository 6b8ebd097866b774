-- Gives up every dead instance, Modules and Batches. Locks: the instances it ends.

CREATE OR REPLACE PROCEDURE omd.reap_expired_instances(
    INOUT p_reaped bigint[] DEFAULT NULL,
    INOUT p_reaped_batches bigint[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $reap_expired_instances$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    -- Batches first: what executes in them ends with them.
    p_reaped_batches := omd.give_up_batch_instances(NULL);
    p_reaped := omd.give_up_module_instances(NULL);

    SELECT coalesce(array_agg(r.id ORDER BY r.id), '{}') INTO p_reaped
    FROM (
        SELECT unnest(p_reaped) AS id
        UNION
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        WHERE mi.batch_instance_id = ANY(p_reaped_batches)
            AND mi.execution_status_code = 'F'
            AND mi.end_datetime >= v_now
    ) AS r;
END
$reap_expired_instances$;

COMMENT ON PROCEDURE omd.reap_expired_instances IS
'Gives up every Module and Batch Instance whose lease has passed or whose session is gone, '
'through the ordinary failure event. What executes in a Batch Instance that is given up ends with '
'it. p_reaped: ids of the Module Instances, in order; p_reaped_batches: of the Batch Instances. '
'Safe to call at any time, by many at once. Locks: the instances it ends.';
REVOKE ALL ON PROCEDURE omd.reap_expired_instances FROM PUBLIC;
