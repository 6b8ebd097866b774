-- Spark or a person has executed the statements, so the procedure believes them only where it must:
-- in this database it counts the rows first, with the rights of the caller, and fails when a policy
-- would hide rows.

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
            PERFORM omd._refuse_left_rows(
                v_check.module_code, v_check.table_code, v_check.instance_array, v_left
            );
        END IF;
    END LOOP;
    PERFORM omd._mark_rolled_back(p_module_instance_id);
END
$confirm_rollback$;

COMMENT ON PROCEDURE omd.confirm_rollback IS
'Confirms that the statements of build_rollback_sql were executed: marks the instances as undone, '
'withdraws their load windows and sets the indicator to P. It is accepted from status E with '
'indicator R only. A target in this database must hold no row of the instances any more, unless '
'their template keeps rows; the caller needs SELECT on it. Of a lake table the ledger of commits '
'must have the UNDO, or this transaction has locked the table. Errors: OM004, OM005, OM014, OM101, '
'OM103, OM112: rows are left. Locks: the instances undone. DIRECT, "Rollback Procedures". Call '
'again when the answer was lost; OM103 with processing_indicator P says that it is done.';
REVOKE ALL ON PROCEDURE omd.confirm_rollback FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.confirm_rollback TO omd_runner;
