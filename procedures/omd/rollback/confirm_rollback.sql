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
    v_checks jsonb;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, NULL);
    v_checks := (
        SELECT
            coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'module_code', p.module_code,
                        'table_code', p.table_code,
                        'instance_array', p.instance_array,
                        'statement', p.check_statement
                    )
                    ORDER BY p.place
                ),
                '[]'
            )
        FROM omd._rollback_plan(p_module_instance_id, TRUE) AS p
        WHERE p.check_statement IS NOT NULL
    );
    CALL omd._confirm_rollback(p_module_instance_id, v_checks);
END
$confirm_rollback$;

COMMENT ON PROCEDURE omd.confirm_rollback IS
'For programs: '
'Confirms that the statements of build_rollback_sql were executed: marks the instances as undone, '
'withdraws their load windows and sets the indicator to P. It is accepted from status E with '
'indicator R only. A target in this database must hold no row of the instances any more, unless '
'their template keeps rows; the caller needs SELECT on it. Of a lake table the ledger of commits '
'must have the UNDO, or this transaction has locked the table. Errors: OM004, OM005, OM014, OM101, '
'OM103, OM112: rows are left. Locks: the instances undone. DIRECT, "Rollback Procedures". Call '
'again when the answer was lost; OM103 with processing_indicator P says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.confirm_rollback TO omd_runner;
