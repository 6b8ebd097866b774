-- A Module that may read a table of the plan counts although none of its runs has: one that began
-- while the recall commits would have read rows that are gone. Somebody may have undone the target
-- since the plan.

CREATE OR REPLACE FUNCTION omd_provenance._concern(
    p_recall omd_provenance.recall,
    OUT p_runs bigint[],
    OUT p_modules integer[]
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $concern$
DECLARE
    v_targets bigint[];
BEGIN
    BEGIN
        v_targets := omd_provenance._runs_of_target(p_recall.target);
    EXCEPTION
        WHEN SQLSTATE 'OM091' THEN
            PERFORM omd_provenance._raise_changed(
                p_recall.recall_id,
                '[]',
                (
                    SELECT coalesce(jsonb_agg(DISTINCT i.module_instance_id), '[]')
                    FROM omd_provenance.recall_item AS i
                    WHERE i.recall_id = p_recall.recall_id
                )
            );
    END;
    SELECT array_agg(r.module_instance_id ORDER BY r.module_instance_id) INTO p_runs
    FROM omd_provenance._reach(v_targets, p_recall.awaits_correction) AS r;
    p_modules := omd_provenance._modules_concerned(p_runs);
END
$concern$;

COMMENT ON FUNCTION omd_provenance._concern IS
'Returns the runs that go by p_recall now, and the Modules that may not run meanwhile, each in the '
'order of their ids. Errors: OM190: nothing of its target stands any more. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._concern TO omd_admin;
