-- A runner reads nothing of process control; it may know what the run that it executes works
-- with.

CREATE OR REPLACE FUNCTION omd_decision._run_plan(
    p_module_instance_id bigint
)
RETURNS TABLE (
    definition jsonb,
    stage_version integer,
    ruleset_code text,
    ruleset_kind text,
    ruleset_version integer,
    content jsonb,
    content_hash text,
    batch_size bigint,
    module_code text,
    insert_column text,
    start_value timestamptz,
    end_value timestamptz,
    execution_status_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $run_plan$
BEGIN
    RETURN QUERY
    SELECT
        d.definition,
        r.stage_version,
        u.ruleset_code,
        u.kind,
        r.ruleset_version,
        v.content,
        r.content_hash,
        r.batch_size,
        m.module_code,
        m.insert_instance_column,
        i.start_value,
        i.end_value,
        i.execution_status_code
    FROM omd_decision.run AS r
    INNER JOIN omd_decision.stage_version AS d
        ON r.stage_id = d.stage_id AND r.stage_version = d.version
    INNER JOIN omd_decision.ruleset AS u USING (ruleset_id)
    INNER JOIN omd_decision.ruleset_version AS v
        ON r.ruleset_id = v.ruleset_id AND r.ruleset_version = v.version
    CROSS JOIN LATERAL omd.instance_state(r.module_instance_id) AS i
    INNER JOIN omd.module_target AS m ON i.module_id = m.module_id
    WHERE r.module_instance_id = p_module_instance_id;
    IF NOT FOUND THEN
        p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
        PERFORM omd.raise_error(
            'OM181', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
END
$run_plan$;

COMMENT ON FUNCTION omd_decision._run_plan IS
'Returns what the run p_module_instance_id of a stage works with: one row. Errors: OM005: it is '
'NULL; OM181: it is no run of a stage. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._run_plan TO omd_runner;
