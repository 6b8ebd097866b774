-- A statement that calls the ruleset for all cycles does not tell which one failed. The cycles
-- are taken again, one by one, until one fails; an error that comes from elsewhere finds none.

CREATE OR REPLACE FUNCTION omd_decision._name_failure(
    p_definition jsonb,
    p_ruleset_code text,
    p_call text,
    p_start_value timestamptz,
    p_end_value timestamptz
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO'
AS $name_failure$
DECLARE
    v_cycle record;
    v_result jsonb;
    v_problem text;
    v_detail jsonb;
BEGIN
    FOR v_cycle IN
        SELECT
            c.wave, c.key, c.cycle_no, c.invocation_no,
            CASE WHEN b.params IS NULL THEN c.params ELSE c.params || b.params END AS params
        FROM omd_decision._cycles(p_definition, NULL, p_start_value, p_end_value)
        WITH ORDINALITY AS c
        LEFT JOIN omd_decision._buffers(p_definition, NULL, p_start_value, p_end_value) AS b
            ON b.wave_key = coalesce('1' || c.wave, '0')
        WHERE c.link IS NULL AND c.cycle_no IS NOT NULL
        ORDER BY c.ordinality
    LOOP
        v_detail := jsonb_build_object(
            'stage_code', p_definition -> 'stage',
            'ruleset_code', p_ruleset_code,
            'wave', v_cycle.wave,
            'key', v_cycle.key,
            'cycle_no', v_cycle.cycle_no,
            'invocation_no', v_cycle.invocation_no
        );
        v_problem := NULL;
        BEGIN
            EXECUTE format('SELECT %s($1)', p_call) INTO v_result USING v_cycle.params;
        EXCEPTION
            WHEN assert_failure OR OTHERS THEN
                v_problem := format('%s (%s)', SQLERRM, SQLSTATE);
        END;
        IF v_problem IS NOT NULL THEN
            PERFORM omd.raise_error('OM283', v_detail || jsonb_build_object('error', v_problem));
        END IF;
        PERFORM omd_decision._require_fit(p_definition, v_detail, v_result);
    END LOOP;
END
$name_failure$;

COMMENT ON FUNCTION omd_decision._name_failure IS
'Raises the error of the first cycle of the stage document p_definition for which the function '
'p_call of the ruleset p_ruleset_code fails, or answers what does not fit an output; the window '
'is (p_start_value, p_end_value]. It returns when there is none. Errors: OM283, OM284; those of '
'_cycles. Locks: ACCESS SHARE on the sources.';
GRANT EXECUTE ON FUNCTION omd_decision._name_failure TO omd_runner;
