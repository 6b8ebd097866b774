-- To activate a FUNCTION is to call it, which the caller does with the rights of its own.

CREATE OR REPLACE PROCEDURE omd_decision.define_ruleset(
    p_ruleset jsonb,
    p_activate boolean DEFAULT FALSE,
    INOUT p_version integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $define_ruleset$
DECLARE
    v_version omd_decision.ruleset_version;
BEGIN
    p_ruleset := omd.require_argument('p_ruleset', p_ruleset);
    p_activate := omd.require_argument('p_activate', p_activate);
    v_version := omd_decision._save_ruleset(p_ruleset);
    p_version := v_version.version;
    IF p_activate
        AND (
            v_version.state = 'ACTIVE'
            AND v_version.effective_from <= now()
            AND coalesce(v_version.effective_to, 'infinity') > now()
        ) IS NOT TRUE
    THEN
        CALL omd_decision.activate_ruleset(p_ruleset ->> 'ruleset', p_version);
    END IF;
END
$define_ruleset$;

COMMENT ON PROCEDURE omd_decision.define_ruleset IS
'Defines the ruleset of the document p_ruleset: {"ruleset", "kind", "content", "tests"}, as '
'docs/explanation/decision.md describes it. Other content is the next version, a DRAFT; tests '
'replaces the test cases, and where it is absent they stay. p_activate: TRUE activates the '
'version from now on, unless it is active and effective (FALSE). Returns p_version, the newest '
'version. Errors: OM005: p_ruleset or p_activate is NULL; OM014: the isolation level is not read '
'committed; OM082: the document is wrong; its DETAIL lists all problems; OM180: it has not passed '
'every test case, and nothing is defined; OM287: its function was replaced meanwhile. Locks: the '
'ruleset. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_decision.define_ruleset TO omd_admin;
