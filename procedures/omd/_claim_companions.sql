-- Writes down which instances of companion Modules a rollback will undo, so that what is executed
-- and what is marked afterwards are the same.

CREATE OR REPLACE FUNCTION omd._claim_companions(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd.module_instance AS mi SET
        companion_instance_array = omd._companion_instances(
            mi.module_id, mi.rollback_instance_array
        )
    WHERE
        mi.module_instance_id = p_module_instance_id
        AND mi.processing_indicator = 'R'
        AND mi.companion_instance_array IS NULL
        AND EXISTS (SELECT FROM omd.module_companion AS c WHERE c.module_id = mi.module_id);

    -- A companion that is undone must run again: no partial restart may skip it.
    UPDATE omd.module_instance AS mi SET
        next_run_indicator = 'P',
        next_run_batch_id = NULL
    WHERE
        mi.next_run_batch_id IS NOT NULL
        AND mi.module_instance_id = any(
            SELECT unnest(claimed.companion_instance_array)
            FROM omd.module_instance AS claimed
            WHERE claimed.module_instance_id = p_module_instance_id
        );
END;

COMMENT ON FUNCTION omd._claim_companions IS
'Records on a Module Instance that was told R the instances of companion Modules that go with '
'its rollback, and takes the skip of a partial restart from them. Does nothing to other '
'instances. Locks: the instance row; the companions'' instances.';
REVOKE ALL ON FUNCTION omd._claim_companions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._claim_companions TO omd_runner;
