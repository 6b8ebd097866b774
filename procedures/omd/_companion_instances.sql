-- The instances of companion Modules that go with given instances of a Module: those that ended in
-- the same Batch Instances, or in reruns that skipped the Module because it had succeeded before,
-- and wrote rows that nobody has undone. A companion with load windows gives up its later ones too,
-- as it would on its own.

CREATE OR REPLACE FUNCTION omd._companion_instances(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH in_the_same_batches AS (
        SELECT
            c.companion_module_id,
            array_agg(mi.module_instance_id) AS instance_array
        FROM omd.module_companion AS c
        INNER JOIN omd.module_instance AS mi ON c.companion_module_id = mi.module_id
        WHERE
            c.module_id = p_module_id
            AND mi.batch_instance_id <> 0
            AND mi.batch_instance_id IN (
                SELECT own.batch_instance_id
                FROM omd.module_instance AS own
                WHERE own.module_instance_id = any(p_instance_array)
                UNION ALL
                SELECT skipped.batch_instance_id
                FROM omd.module_instance AS skipped
                WHERE
                    skipped.module_id = p_module_id
                    AND skipped.module_instance_id > p_instance_array[1]
                    AND skipped.reason_code = 'ALREADY_SUCCEEDED'
                    AND (
                        SELECT max(loaded.module_instance_id)
                        FROM omd.module_instance AS loaded
                        WHERE
                            loaded.module_id = p_module_id
                            AND loaded.module_instance_id < skipped.module_instance_id
                            AND loaded.execution_status_code = 'S'
                    ) = any(p_instance_array)
            )
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

COMMENT ON FUNCTION omd._companion_instances IS
'The instances of the companions of the Module p_module_id that are undone together with its '
'instances p_instance_array (in id order), in id order; NULL when there are none. Locks: none.';
REVOKE ALL ON FUNCTION omd._companion_instances FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._companion_instances TO omd_reader;
