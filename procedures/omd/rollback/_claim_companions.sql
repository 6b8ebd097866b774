-- The instances of other Modules that a rollback undoes are recorded first, so that the statements
-- and the marking concern the same instances. They are locked in the order of their ids, as every
-- routine locks several. So two begins that would undo the same rows, one as its own and one as a
-- companion's, run one after the other, and the second sees what the first has undone.

CREATE OR REPLACE FUNCTION omd._claim_companions(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_companions$
DECLARE
    v_array bigint[];
    v_companions bigint[];
BEGIN
    SELECT
        mi.rollback_instance_array,
        omd._companion_instances(mi.module_id, mi.rollback_instance_array)
    INTO v_array, v_companions
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id
        AND mi.processing_indicator = 'R'
        AND mi.companion_instance_array IS NULL;

    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = ANY(v_array || v_companions)
    ORDER BY mi.module_instance_id
    FOR NO KEY UPDATE;

    IF v_companions IS NULL THEN
        RETURN;
    END IF;
    UPDATE omd.module_instance AS mi SET
        companion_instance_array = (
            SELECT array_agg(c.module_instance_id ORDER BY c.module_instance_id)
            FROM omd.module_instance AS c
            WHERE c.module_instance_id = ANY(v_companions)
                AND c.rolled_back_by_module_instance_id IS NULL
        )
    WHERE mi.module_instance_id = p_module_instance_id;

    -- A companion that is undone must run again, so no partial restart may skip it.
    UPDATE omd.module_instance AS mi SET
        next_run_indicator = 'P',
        next_run_batch_id = NULL
    WHERE mi.next_run_batch_id IS NOT NULL
        AND mi.module_instance_id = ANY(v_companions);
END
$claim_companions$;

COMMENT ON FUNCTION omd._claim_companions IS
'Records on a Module Instance that got R the instances of other Modules that its rollback undoes, '
'and removes the skip of a partial restart from them. It changes nothing on other instances. '
'Locks: the instances to undo, in id order; the instance row.';
GRANT EXECUTE ON FUNCTION omd._claim_companions TO omd_runner;
