-- A statement that writes all calls does not tell which one does not fit. The table is made by the
-- session, so it is looked up.

CREATE OR REPLACE FUNCTION omd_decision._name_unfit(
    p_definition jsonb,
    p_ruleset_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $name_unfit$
DECLARE
    v_call jsonb;
    v_result jsonb;
BEGIN
    FOR v_call, v_result IN
        EXECUTE format(
            'SELECT jsonb_build_object(''wave'', c.wave, ''key'', c.key, ''cycle_no'', c.cycle_no,'
            ' ''invocation_no'', c.invocation_no), c.result FROM %s AS c WHERE c.link IS NULL',
            to_regclass('pg_temp.omd_called')
        )
    LOOP
        PERFORM omd_decision._require_fit(
            p_definition,
            v_call || jsonb_build_object(
                'stage_code', p_definition -> 'stage', 'ruleset_code', p_ruleset_code
            ),
            v_result
        );
    END LOOP;
END
$name_unfit$;

COMMENT ON FUNCTION omd_decision._name_unfit IS
'Raises the error of a call in the table pg_temp.omd_called whose answer does not fit the stage '
'document p_definition; p_ruleset_code: the ruleset. It returns when all fit. Errors: OM284. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._name_unfit TO omd_runner;
