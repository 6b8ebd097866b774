-- Executes the pending rollback of a Module Instance whose target is in this database, with the
-- rights of the caller, and sets its indicator to P. Statements, windows and marking are one
-- transaction.

CREATE OR REPLACE PROCEDURE omd.rollback_module(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $rollback_module$
DECLARE
    v_statement text;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, 'POSTGRES');
    FOR v_statement IN
        SELECT r.statement FROM omd.build_rollback_sql(p_module_instance_id) AS r ORDER BY r.step
    LOOP
        EXECUTE v_statement;
    END LOOP;
    CALL omd.confirm_rollback(p_module_instance_id);
END
$rollback_module$;

COMMENT ON PROCEDURE omd.rollback_module IS
'Executes the rollback that the evaluation of a Module Instance asked for, on a target in this '
'database, with the rights of the caller, and sets its indicator to P. Accepted from status E '
'with indicator R only. Errors: OM004, OM005, OM009, OM101, OM103, OM201, OM202, OM204, '
'OM205. Locks: the target rows. DIRECT, "Rollback Procedures".';
REVOKE ALL ON PROCEDURE omd.rollback_module FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.rollback_module TO omd_runner;
