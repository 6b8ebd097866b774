-- Statements, load windows and marking are one transaction. The caller's rights apply, so a policy
-- could hide rows from the statement; with row_security off it fails instead.

CREATE OR REPLACE PROCEDURE omd.rollback_module(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
AS $rollback_module$
DECLARE
    v_statement text;
    v_schema text;
    v_table text;
    v_message text;
    v_detail text;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, 'POSTGRES');
    BEGIN
        FOR v_statement IN
            SELECT r.statement
            FROM omd.build_rollback_sql(p_module_instance_id) AS r
            ORDER BY r.step
        LOOP
            EXECUTE v_statement;
        END LOOP;
    EXCEPTION
        WHEN foreign_key_violation OR restrict_violation THEN
            GET STACKED DIAGNOSTICS
                v_schema = SCHEMA_NAME,
                v_table = TABLE_NAME,
                v_message = MESSAGE_TEXT,
                v_detail = PG_EXCEPTION_DETAIL;
            PERFORM omd._raise_still_referenced(
                p_module_instance_id,
                format('%I.%I', v_schema, v_table),
                concat_ws(': ', v_message, nullif(v_detail, ''))
            );
    END;
    CALL omd.confirm_rollback(p_module_instance_id);
END
$rollback_module$;

COMMENT ON PROCEDURE omd.rollback_module IS
'Executes the rollback that the evaluation of a Module Instance asked for, on a target in this '
'database, with the rights of the caller, and sets its indicator to P. It is accepted from status '
'E with indicator R only. Errors: OM004, OM005, OM009, OM101, OM103, OM112: rows of the undone '
'runs are left, or rows of a run that stands refer to them, OM201, OM202, OM204, OM205. Locks: '
'the target rows. DIRECT, "Rollback Procedures". Call again when the answer was lost; OM103 with '
'processing_indicator P says that it is done.';
REVOKE ALL ON PROCEDURE omd.rollback_module FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.rollback_module TO omd_runner;
