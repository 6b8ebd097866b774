-- Closes a rollback whose statements were executed, by Spark or by hand. What this database can see
-- it looks at first, with the rights of the caller, and not through a policy that hides rows.

CREATE OR REPLACE PROCEDURE omd.confirm_rollback(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
AS $confirm_rollback$
DECLARE
    v_check record;
    v_left bigint;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, NULL);
    FOR v_check IN SELECT c.* FROM omd._rollback_checks(p_module_instance_id) AS c LOOP
        EXECUTE v_check.statement INTO v_left;
        IF v_left > 0 THEN
            PERFORM omd.raise_error(
                'OM112',
                jsonb_build_object(
                    'module_code', v_check.module_code,
                    'table_code', v_check.table_code,
                    'module_instance_ids', v_check.instance_array,
                    'problem', format('%s rows of these runs are still there', v_left)
                )
            );
        END IF;
    END LOOP;
    PERFORM omd._mark_rolled_back(p_module_instance_id);
END
$confirm_rollback$;

COMMENT ON PROCEDURE omd.confirm_rollback IS
'Tells that the statements of build_rollback_sql were executed: marks the instances undone, takes '
'their load windows back and sets the indicator to P. Accepted from status E with indicator R '
'only, and where the target is in this database only when no row of the instances is left in it '
'(unless their template keeps rows); the caller needs SELECT there. Errors: OM004, OM005, OM101, '
'OM103, OM112: rows are left. Locks: the instances undone. DIRECT, "Rollback Procedures". '
'Call again when the answer was lost; OM103 with processing_indicator P says that it is done.';
REVOKE ALL ON PROCEDURE omd.confirm_rollback FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.confirm_rollback TO omd_runner;
