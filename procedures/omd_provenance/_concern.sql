-- A Module that may read a table of the plan counts although none of its runs has: one that began
-- while the recall commits would have read rows that are gone.

CREATE OR REPLACE FUNCTION omd_provenance._concern(
    p_target jsonb,
    p_awaits_correction boolean,
    OUT p_runs bigint[],
    OUT p_modules integer[]
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $concern$
BEGIN
    SELECT array_agg(r.module_instance_id ORDER BY r.module_instance_id) INTO p_runs
    FROM omd_provenance._reach(
        omd_provenance._runs_of_target(p_target), p_awaits_correction
    ) AS r;
    p_modules := omd_provenance._modules_concerned(p_runs);
END
$concern$;

COMMENT ON FUNCTION omd_provenance._concern IS
'Returns the runs that go with p_target, and the Modules that may not run meanwhile, each in the '
'order of their ids. Errors: those of _runs_of_target. Locks: none.';
REVOKE ALL ON FUNCTION omd_provenance._concern FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._concern TO omd_admin;
