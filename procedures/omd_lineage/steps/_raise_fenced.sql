-- A step that has lost its topic must not commit, however far it has come: another step takes the
-- same block.

CREATE OR REPLACE FUNCTION omd_lineage._raise_fenced(
    p_module_instance_id bigint,
    p_plan_number bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_fenced$
DECLARE
    v_topic text;
    v_plan_number bigint;
BEGIN
    SELECT t.topic, o.plan_number INTO v_topic, v_plan_number
    FROM omd.instance_state(p_module_instance_id) AS i
    INNER JOIN omd_lineage.topic AS t USING (module_id)
    INNER JOIN omd_lineage.offsets AS o USING (topic_id);
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
    PERFORM omd.raise_error(
        'OM108',
        jsonb_build_object(
            'topic', v_topic,
            'module_instance_id', p_module_instance_id,
            'plan_number', p_plan_number,
            'present_plan_number', v_plan_number
        )
    );
END
$raise_fenced$;

COMMENT ON FUNCTION omd_lineage._raise_fenced IS
'Refuses the step p_module_instance_id with the plan p_plan_number. Errors: OM004: there is no '
'such instance of a topic; OM108: the step does not hold its topic any more. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._raise_fenced TO omd_runner;
