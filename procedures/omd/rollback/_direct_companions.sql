-- An instance takes with it the companions' instances that ended in the same Batch Instances, or in
-- reruns of those that skipped the Module because it had succeeded, if they wrote rows that are not
-- undone yet. A rerun is a run of the Batch up to its next success. For a companion with load
-- windows the later instances are undone too, as in a rollback of its own.

CREATE OR REPLACE FUNCTION omd._direct_companions(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH own AS (
        SELECT
            mi.module_instance_id,
            mi.execution_status_code,
            bi.batch_id,
            bi.batch_instance_id
        FROM omd.module_instance AS mi
        INNER JOIN omd.batch_instance AS bi ON mi.batch_instance_id = bi.batch_instance_id
        WHERE
            mi.module_instance_id = any(p_instance_array)
            AND mi.batch_instance_id <> 0
            AND EXISTS (SELECT FROM omd.module_companion AS c WHERE c.module_id = p_module_id)
    ),

    concerned AS (
        SELECT own.batch_instance_id
        FROM own
        UNION
        SELECT rerun.batch_instance_id
        FROM own
        INNER JOIN omd.batch_instance AS rerun
            ON
                own.batch_id = rerun.batch_id
                AND own.batch_instance_id < rerun.batch_instance_id
                AND rerun.batch_instance_id <= coalesce(
                    (
                        SELECT min(success.batch_instance_id)
                        FROM omd.batch_instance AS success
                        WHERE
                            success.batch_id = own.batch_id
                            AND success.batch_instance_id >= own.batch_instance_id
                            AND success.execution_status_code = 'S'
                    ),
                    9223372036854775807
                )
        INNER JOIN omd.module_instance AS skipped
            ON
                rerun.batch_instance_id = skipped.batch_instance_id
                AND skipped.batch_instance_id <> 0
                AND skipped.module_id = p_module_id
                AND skipped.execution_status_code = 'C'
        WHERE
            own.execution_status_code = 'S'
            -- The companion had loaded nothing else in between.
            AND NOT EXISTS (
                SELECT FROM omd.module_instance AS loaded
                WHERE
                    loaded.module_id = p_module_id
                    AND loaded.module_instance_id > own.module_instance_id
                    AND loaded.module_instance_id < skipped.module_instance_id
                    AND loaded.execution_status_code = 'S'
            )
    ),

    in_the_same_batches AS (
        SELECT
            c.companion_module_id,
            array_agg(mi.module_instance_id) AS instance_array
        FROM omd.module_companion AS c
        CROSS JOIN concerned AS b
        INNER JOIN omd.module_instance AS mi
            ON
                c.companion_module_id = mi.module_id
                AND b.batch_instance_id = mi.batch_instance_id
                AND mi.batch_instance_id <> 0
        WHERE
            c.module_id = p_module_id
            AND mi.execution_status_code IN ('S', 'F')
            AND mi.rolled_back_by_module_instance_id IS NULL
        GROUP BY c.companion_module_id
    )

    SELECT array_agg(DISTINCT undone.id ORDER BY undone.id)
    FROM in_the_same_batches AS b
    CROSS JOIN
        LATERAL unnest(
            omd._with_later_windows(b.companion_module_id, b.instance_array)
        ) AS undone (id);
END;

COMMENT ON FUNCTION omd._direct_companions IS
'Returns the instances of the companions of the Module p_module_id that are undone together with '
'its instances p_instance_array, in the order of their ids; NULL when there are none. Locks: none.';
