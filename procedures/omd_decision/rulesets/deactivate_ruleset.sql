-- A version that is not active stays as it is, so that a second call does no harm.

CREATE OR REPLACE PROCEDURE omd_decision.deactivate_ruleset(
    p_ruleset_code text,
    p_version integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $deactivate_ruleset$
DECLARE
    v_version omd_decision.ruleset_version
        := omd_decision._require_version(p_ruleset_code, p_version);
BEGIN
    p_version := omd.require_argument('p_version', p_version);
    UPDATE omd_decision.ruleset_version AS v SET state = 'INACTIVE'
    WHERE v.ruleset_id = v_version.ruleset_id AND v.version = p_version AND v.state = 'ACTIVE';
    IF FOUND THEN
        PERFORM omd.write_event(
            0, 0, 4, 'DEACTIVATED',
            format(
                '%s: version %s of ruleset %s',
                omd.editor(), p_version, p_ruleset_code
            )
        );
    END IF;
END
$deactivate_ruleset$;

COMMENT ON PROCEDURE omd_decision.deactivate_ruleset IS
'Makes the version p_version of the ruleset p_ruleset_code INACTIVE: no run takes it any more. '
'Runs that have begun go on. A version that is not ACTIVE stays as it is. Errors: OM005: '
'p_ruleset_code or p_version is NULL; OM081: there is no such ruleset or version. Locks: the '
'version. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_decision.deactivate_ruleset TO omd_admin;
