-- What is wrong with the stage or its ruleset is reported before there is an instance.

CREATE OR REPLACE FUNCTION omd_decision._stage_plan(
    p_stage_code text,
    p_effective_at timestamptz,
    p_engine text
)
RETURNS TABLE (
    definition jsonb,
    module_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stage_plan$
DECLARE
    v_stage omd_decision.stage := omd_decision._require_stage(p_stage_code);
BEGIN
    PERFORM omd_decision._require_ruleset(
        v_stage.stage_id, coalesce(p_effective_at, now()), p_engine
    );
    RETURN QUERY
    SELECT d.definition, m.module_code
    FROM omd_decision.stage_version AS d
    INNER JOIN omd.module_target AS m ON m.module_id = v_stage.module_id
    WHERE d.stage_id = v_stage.stage_id AND d.version = v_stage.version;
END
$stage_plan$;

COMMENT ON FUNCTION omd_decision._stage_plan IS
'Returns the document and the Module of the stage p_stage_code, which a run in p_engine '
'(POSTGRES or SPARK) could begin with a version of its ruleset that is effective at '
'p_effective_at (NULL: now). Errors: OM005, OM080, OM286, OM287, OM288. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._stage_plan TO omd_runner;
