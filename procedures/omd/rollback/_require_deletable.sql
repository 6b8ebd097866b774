-- Readiness names such a target before; at a rollback it gets the same words instead of an error of
-- PostgreSQL.

CREATE OR REPLACE FUNCTION omd._require_deletable(
    p_module_instance_id bigint,
    p_module_id integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_deletable$
DECLARE
    v_problem record;
BEGIN
    SELECT p.problem, p.command, m.table_code INTO v_problem
    FROM omd._module_problems(p_module_id) AS p
    CROSS JOIN omd.module AS m
    WHERE p.problem_code = 'TARGET_TAKES_NO_DELETE' AND m.module_id = p_module_id;
    IF FOUND THEN
        PERFORM omd._refuse_rollback(
            p_module_instance_id, v_problem.table_code, v_problem.problem, NULL, NULL,
            v_problem.command
        );
    END IF;
END
$require_deletable$;

COMMENT ON FUNCTION omd._require_deletable IS
'Raises OM112 when the rollback of the Module p_module_id, as a part of what the Module Instance '
'has to undo, deletes from a view that takes no DELETE. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._require_deletable TO omd_runner;
