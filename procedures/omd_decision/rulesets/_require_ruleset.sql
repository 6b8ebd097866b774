-- The rule which version a run takes stands here. What can be refused is refused before there is
-- an instance.

CREATE OR REPLACE FUNCTION omd_decision._require_ruleset(
    p_stage_id integer,
    p_effective_at timestamptz,
    p_engine text
)
RETURNS omd_decision.ruleset_version
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_ruleset$
DECLARE
    v_code text;
    v_kind text;
    v_stage_code text;
    v_version omd_decision.ruleset_version;
BEGIN
    SELECT d.definition ->> 'ruleset', s.stage_code INTO v_code, v_stage_code
    FROM omd_decision.stage AS s
    INNER JOIN omd_decision.stage_version AS d USING (stage_id, version)
    WHERE s.stage_id = p_stage_id;
    SELECT v.* INTO v_version
    FROM omd_decision.ruleset AS r
    INNER JOIN omd_decision.ruleset_version AS v USING (ruleset_id)
    WHERE r.ruleset_code = v_code
        AND v.state = 'ACTIVE'
        AND v.effective_from <= p_effective_at
        AND coalesce(v.effective_to, 'infinity') > p_effective_at
    ORDER BY v.effective_from DESC, v.version DESC
    LIMIT 1;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM286',
            jsonb_build_object('ruleset_code', v_code, 'effective_at', p_effective_at)
        );
    END IF;
    SELECT r.kind INTO v_kind
    FROM omd_decision.ruleset AS r
    WHERE r.ruleset_id = v_version.ruleset_id;
    IF p_engine = 'POSTGRES' AND v_kind <> 'FUNCTION' THEN
        PERFORM omd.raise_error(
            'OM288',
            jsonb_build_object(
                'stage_code', v_stage_code,
                'ruleset_code', v_code,
                'kind', v_kind,
                'engine', p_engine
            )
        );
    END IF;
    PERFORM omd_decision._require_unchanged(v_code, v_version);
    RETURN v_version;
END
$require_ruleset$;

COMMENT ON FUNCTION omd_decision._require_ruleset IS
'Returns the version of the ruleset that a run of the stage p_stage_id takes at p_effective_at '
'in p_engine (POSTGRES or SPARK). Errors: OM286: there is none; OM287: its function has changed; '
'OM288: it does not run there. Locks: none.';
