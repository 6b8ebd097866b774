-- Begins declare dead only instances of their own Batch or Module; this procedure does it for all
-- of them.

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
    -- Batches come first, since what executes in them ends with them.
    p_reaped_batches := omd._give_up_batch_instances(NULL);
    p_reaped := omd._give_up_module_instances(NULL);

    WITH RECURSIVE ended (batch_instance_id) AS (
        SELECT unnest(p_reaped_batches)
        UNION
        SELECT child.batch_instance_id
        FROM ended AS e
        INNER JOIN omd.batch_instance AS child
            ON e.batch_instance_id = child.parent_batch_instance_id
        WHERE child.parent_batch_instance_id <> 0
            AND child.execution_status_code = 'F'
            AND child.end_datetime >= v_now
    )

    SELECT
        coalesce(array_agg(e.batch_instance_id ORDER BY e.batch_instance_id), '{}'),
        ARRAY(
            SELECT unnest(p_reaped) AS id
            UNION
            SELECT mi.module_instance_id
            FROM omd.module_instance AS mi
            INNER JOIN ended AS b ON mi.batch_instance_id = b.batch_instance_id
            WHERE mi.execution_status_code = 'F' AND mi.end_datetime >= v_now
            ORDER BY id
        )
    INTO p_reaped_batches, p_reaped
    FROM ended AS e;
END
$reap_expired_instances$;

COMMENT ON PROCEDURE omd.reap_expired_instances IS
'Declares dead every Module and Batch Instance whose lease has expired or whose session is gone, '
'through the ordinary failure event. What executes in such a Batch Instance fails with it. '
'p_reaped: ids of the Module Instances, in order. p_reaped_batches: ids of the Batch Instances. '
'It is safe to call at any time, in many sessions at once. Locks: the instances it ends.';
GRANT EXECUTE ON PROCEDURE omd.reap_expired_instances TO omd_runner, omd_admin;
