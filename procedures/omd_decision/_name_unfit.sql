-- A statement that writes all calls does not tell which one does not fit.

CREATE OR REPLACE FUNCTION omd_decision._name_unfit(
    p_definition jsonb,
    p_ruleset_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $name_unfit$
DECLARE
    v_call record;
BEGIN
    FOR v_call IN
        EXECUTE 'SELECT c.* FROM pg_temp.omd_called AS c WHERE c.link IS NULL'
    LOOP
        PERFORM omd_decision._require_fit(
            p_definition,
            jsonb_build_object(
                'stage_code', p_definition -> 'stage',
                'ruleset_code', p_ruleset_code,
                'wave', v_call.wave,
                'key', v_call.key,
                'cycle_no', v_call.cycle_no,
                'invocation_no', v_call.invocation_no
            ),
            v_call.result
        );
    END LOOP;
END
$name_unfit$;

COMMENT ON FUNCTION omd_decision._name_unfit IS
'Raises the error of a call in the table pg_temp.omd_called whose answer does not fit the stage '
'document p_definition; p_ruleset_code: the ruleset. It returns when all fit. Errors: OM284. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._name_unfit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._name_unfit TO omd_runner;
