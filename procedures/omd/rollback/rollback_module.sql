-- Statements, load windows and marking are one transaction. The caller's rights apply, so a policy
-- could hide rows from the statement; with row_security off it fails instead. Constraints that can
-- wait are checked when all statements are executed: rows that refer to each other go together, and
-- nothing is left to fail at the commit. The queries of the catalogue are short, and the planner
-- takes them for long: to compile them (JIT) took four seconds.
--
-- A run that was declared dead may be frozen, and its session holds locks. While there is such a
-- session, a lock is waited for in pieces, and the session is ended with the rights of the caller;
-- who has none gives up after ten seconds, since the frozen one may never wake up.

CREATE OR REPLACE PROCEDURE omd.rollback_module(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $rollback_module$
DECLARE
    v_step record;
    v_place integer;
    v_checks jsonb;
    v_schema text;
    v_table text;
    v_constraint text;
    v_message text;
    v_detail text;
    v_patience CONSTANT interval := interval '10 seconds';
    v_until timestamptz := clock_timestamp() + v_patience;
    v_lock_timeout text := current_setting('lock_timeout');
    v_sessions integer[];
    v_session integer;
BEGIN
    PERFORM omd._require_rollback(p_module_instance_id, 'POSTGRES');
    LOOP
        v_sessions := omd._sessions_of_undone(p_module_instance_id);
        BEGIN
            IF v_sessions <> '{}' THEN
                PERFORM set_config('lock_timeout', '500ms', TRUE);
            END IF;
            SET CONSTRAINTS ALL DEFERRED;
            v_place := 0;
            v_checks := '[]';
            FOR v_step IN
                SELECT p.* FROM omd._rollback_plan(p_module_instance_id) AS p
                ORDER BY p.place, p.step
            LOOP
                IF v_step.place <> v_place THEN
                    v_place := v_step.place;
                    IF v_step.check_statement IS NOT NULL THEN
                        v_checks := v_checks || jsonb_build_object(
                            'module_code', v_step.module_code,
                            'table_code', v_step.table_code,
                            'instance_array', v_step.instance_array,
                            'statement', v_step.check_statement
                        );
                    END IF;
                    IF NOT v_step.is_table THEN
                        PERFORM omd._require_deletable(p_module_instance_id, v_step.module_id);
                    END IF;
                    IF v_step.is_referenced THEN
                        PERFORM omd._refuse_losses(
                            p_module_instance_id, v_step.module_id, v_step.instance_array
                        );
                    END IF;
                END IF;
                EXECUTE coalesce(
                    CASE
                        WHEN v_step.statement ~* '^\s*TRUNCATE\M'
                            THEN
                                omd._look_before_truncate(v_step.module_id, v_step.instance_array)
                    END,
                    v_step.statement
                );
            END LOOP;
            SET CONSTRAINTS ALL IMMEDIATE;
            IF v_sessions <> '{}' THEN
                PERFORM set_config('lock_timeout', v_lock_timeout, TRUE);
            END IF;
            EXIT;
        EXCEPTION
            WHEN lock_not_available THEN
                IF v_sessions = '{}' THEN
                    RAISE;
                END IF;
                v_sessions := omd._sessions_of_undone(p_module_instance_id);
                IF v_sessions <> '{}' AND clock_timestamp() > v_until THEN
                    PERFORM omd.raise_error(
                        'OM100',
                        jsonb_build_object(
                            'module_instance_id', p_module_instance_id,
                            'pids', array_to_string(v_sessions, ', '),
                            'pid', v_sessions[1]
                        )
                    );
                END IF;
                FOREACH v_session IN ARRAY v_sessions LOOP
                    BEGIN
                        PERFORM pg_terminate_backend(v_session, 2000);
                    EXCEPTION
                        WHEN insufficient_privilege THEN
                            NULL;
                    END;
                END LOOP;
            WHEN integrity_constraint_violation THEN
                GET STACKED DIAGNOSTICS
                    v_schema = SCHEMA_NAME,
                    v_table = TABLE_NAME,
                    v_constraint = CONSTRAINT_NAME,
                    v_message = MESSAGE_TEXT,
                    v_detail = PG_EXCEPTION_DETAIL;
                -- A key may also set a column of a referring row to what it can't be. What a
                -- trigger raises names no table.
                IF v_table = ''
                    OR (
                        SQLSTATE NOT IN ('23503', '23001')
                        AND omd._is_undone_in(
                            p_module_instance_id, format('%I.%I', v_schema, v_table)
                        )
                    )
                THEN
                    RAISE;
                END IF;
                PERFORM omd._refuse_rollback(
                    p_module_instance_id,
                    format('%I.%I', v_schema, v_table),
                    concat_ws(E'\n', v_message, nullif(v_detail, '')),
                    NULL,
                    v_constraint,
                    NULL
                );
        END;
    END LOOP;
    PERFORM omd._keep_deferred();
    CALL omd._confirm_rollback(p_module_instance_id, v_checks);
END
$rollback_module$;

COMMENT ON PROCEDURE omd.rollback_module IS
'For programs: '
'Executes the rollback that the evaluation of a Module Instance asked for, on a target in this '
'database, with the rights of the caller, and sets its indicator to P. It is accepted from status '
'E with indicator R only. A session of an undone run (of the driver''s run.connect) that holds a '
'lock is ended with the rights of the caller. Errors: OM004, OM005, OM009, OM014, OM100: there was '
'no right to end it for ten seconds, OM101, OM103, OM112: rows of the '
'undone runs are left, or rows of another run refer to them, would go with them or can not be '
'seen, OM201, OM202, OM204, OM205. Locks: the target rows; before a foreign key could delete or '
'change rows that refer to them, FOR UPDATE, with the rows that go with them; a table that is '
'truncated, ACCESS EXCLUSIVE. DIRECT, "Rollback Procedures". Call again when the answer was lost; '
'OM103 with processing_indicator P says that it is done.';
GRANT EXECUTE ON PROCEDURE omd.rollback_module TO omd_runner;
