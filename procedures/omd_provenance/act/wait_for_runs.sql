-- Who plans and recalls in one transaction waits before the plan, so that it is the plan of a
-- moment in which nothing runs.

CREATE OR REPLACE PROCEDURE omd_provenance.wait_for_runs(
    p_recall_id bigint,
    p_wait interval DEFAULT interval '1 minute'
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $wait_for_runs$
BEGIN
    PERFORM omd_provenance._wait_for_runs(
        (omd_provenance._concern(omd_provenance._require_planned(p_recall_id))).p_modules,
        clock_timestamp() + coalesce(p_wait, interval '0')
    );
END
$wait_for_runs$;

COMMENT ON PROCEDURE omd_provenance.wait_for_runs IS
'For the driver: '
'Waits until no run executes of the Modules that the recall p_recall_id concerns, at most for '
'p_wait, so that a plan made then is still that of the act. Errors: OM003, OM004, OM033, OM034: '
'the target is there no more; OM005, OM014, OM090, OM190: nothing of its target stands any more; '
'OM193. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd_provenance.wait_for_runs TO omd_admin;
