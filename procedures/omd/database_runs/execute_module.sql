-- The data and the success are one commit, and so is the failure. A procedure that commits can't
-- set a search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd.execute_module(
    p_module_instance_id bigint,
    p_executable text,
    INOUT p_execution_status_code text DEFAULT NULL,
    INOUT p_is_cancelled boolean DEFAULT NULL,
    p_keeps_settings boolean DEFAULT FALSE
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $execute_module$
DECLARE
    v_role pg_catalog.text;
    v_user pg_catalog.text;
    v_settings pg_catalog.jsonb;
    -- This statement of the client.
    v_statement CONSTANT pg_catalog.text := pg_catalog.concat(
        pg_catalog.date_part('epoch', pg_catalog.statement_timestamp()), ' '
    );
    v_known pg_catalog.text;
    v_written pg_catalog.text;
    v_rows bigint;
    v_reported pg_catalog.text;
    v_counts pg_catalog.jsonb;
    v_sqlstate pg_catalog.text;
    v_message pg_catalog.text;
    v_detail pg_catalog.text;
    v_hint pg_catalog.text;
    v_context pg_catalog.text;
BEGIN
    p_is_cancelled := FALSE;
    -- Each run passes here, and an assignment costs a tenth of what a statement costs.
    v_known := pg_catalog.set_config(
        'omd.module_instance_id', p_module_instance_id::pg_catalog.text, FALSE
    );
    BEGIN
        BEGIN
            v_reported := pg_catalog.set_config('omd.row_counts', '', TRUE);
            IF p_keeps_settings IS NOT TRUE THEN
                v_role := pg_catalog.current_setting('role');
                v_user := pg_catalog.current_setting('session_authorization');
                -- Nobody else sets any between the runs of one statement, so the next run finds
                -- what this one has restored. To list them takes a quarter of a small run.
                v_known := pg_catalog.current_setting('omd.session_settings', TRUE);
                IF pg_catalog.starts_with(v_known, v_statement) IS NOT TRUE THEN
                    v_known := pg_catalog.concat(v_statement, omd._listed_settings());
                END IF;
                v_settings := pg_catalog.substr(
                    v_known, pg_catalog.length(v_statement) OPERATOR(pg_catalog.+) 1
                )::pg_catalog.jsonb OPERATOR(pg_catalog.||) omd._named_settings(p_executable);
            END IF;
            EXECUTE p_executable;
            GET DIAGNOSTICS v_rows = ROW_COUNT;
            -- The settings that the executable made are reset; after a failure the rollback has
            -- done so. The role comes first, since another role may not call the routines of OMD.
            IF p_keeps_settings IS NOT TRUE THEN
                IF pg_catalog.current_setting('session_authorization')
                    OPERATOR(pg_catalog.<>) v_user
                THEN
                    PERFORM pg_catalog.set_config('session_authorization', v_user, FALSE);
                END IF;
                IF pg_catalog.current_setting('role') OPERATOR(pg_catalog.<>) v_role THEN
                    PERFORM pg_catalog.set_config('role', v_role, FALSE);
                END IF;
                CALL omd._restore_settings(v_settings, p_executable);
                v_known := pg_catalog.set_config('omd.session_settings', v_known, FALSE);
            END IF;
            -- A deferred constraint would fail at the commit, where the failure could not be
            -- recorded.
            SET CONSTRAINTS ALL IMMEDIATE;
            v_reported := pg_catalog.current_setting('omd.row_counts', TRUE);
            IF v_reported OPERATOR(pg_catalog.<>) '' THEN
                v_counts := v_reported::pg_catalog.jsonb;
            ELSE
                v_written := omd._written_rows(p_executable);
                IF v_written IS NOT NULL THEN
                    v_counts := pg_catalog.jsonb_build_object(v_written, v_rows);
                END IF;
            END IF;
            CALL omd.module_success(
                p_module_instance_id,
                p_rows_input => (v_counts OPERATOR(pg_catalog.->>) 'input')::bigint,
                p_rows_inserted => (v_counts OPERATOR(pg_catalog.->>) 'inserted')::bigint,
                p_rows_updated => (v_counts OPERATOR(pg_catalog.->>) 'updated')::bigint,
                p_rows_deleted => (v_counts OPERATOR(pg_catalog.->>) 'deleted')::bigint,
                p_rows_discarded => (v_counts OPERATOR(pg_catalog.->>) 'discarded')::bigint,
                p_rows_rejected => (v_counts OPERATOR(pg_catalog.->>) 'rejected')::bigint
            );
            p_execution_status_code := 'S';
        EXCEPTION
            WHEN query_canceled OR assert_failure OR OTHERS THEN
                GET STACKED DIAGNOSTICS
                    v_sqlstate = RETURNED_SQLSTATE,
                    v_message = MESSAGE_TEXT,
                    v_detail = PG_EXCEPTION_DETAIL,
                    v_hint = PG_EXCEPTION_HINT,
                    v_context = PG_EXCEPTION_CONTEXT;
                p_execution_status_code := 'F';
                p_is_cancelled := v_sqlstate OPERATOR(pg_catalog.=) '57014';
        END;
        -- Up to PostgreSQL 17 one request to cancel signals the session twice, and the second
        -- signal would cancel the record of the failure.
        IF p_is_cancelled THEN
            PERFORM pg_catalog.pg_sleep(0.05);
        END IF;
    EXCEPTION
        WHEN query_canceled THEN
            p_execution_status_code := 'F';
            p_is_cancelled := TRUE;
            v_sqlstate := SQLSTATE;
            v_message := coalesce(v_message, SQLERRM);
    END;

    -- What the run was to read is not there any more as it was planned: no failure of the run.
    IF v_sqlstate OPERATOR(pg_catalog.=) 'OM114' THEN
        BEGIN
            CALL omd.module_abort(p_module_instance_id, v_message);
            p_execution_status_code := 'A';
        EXCEPTION
            WHEN SQLSTATE 'OM101' THEN
                NULL;
        END;
    ELSIF p_execution_status_code OPERATOR(pg_catalog.=) 'F' THEN
        -- Where in the statement it happened; what of ours called it says nothing.
        v_context := omd.context_within(v_context, E'(omd\\.)?execute_module');
        BEGIN
            CALL omd.module_failure(
                p_module_instance_id,
                pg_catalog.concat_ws(
                    E'\n',
                    v_message,
                    CASE WHEN v_detail OPERATOR(pg_catalog.<>) '' THEN v_detail END,
                    CASE WHEN v_hint OPERATOR(pg_catalog.<>) '' THEN v_hint END,
                    v_context
                ),
                v_sqlstate
            );
        EXCEPTION
            -- Another session ended the instance in the meantime, and its event is written already.
            WHEN SQLSTATE 'OM101' THEN
                NULL;
        END;
    END IF;
    v_known := pg_catalog.set_config('omd.module_instance_id', '', FALSE);
    COMMIT;
END
$execute_module$;

COMMENT ON PROCEDURE omd.execute_module IS
'For rooms: Executes the SQL p_executable for a Module Instance that may proceed, ends the '
'instance with S and the rows that it wrote, or with F and one event, or with A where it finds '
'its block taken back (omd.open_block), and commits. The SQL reads '
'current_setting(''omd.module_instance_id'') and may call omd.tell_row_counts. What it sets with '
'SET is reset. p_keeps_settings: the caller knows that it sets nothing. p_is_cancelled: the '
'statement was cancelled. Locks: what the executable takes.';
GRANT EXECUTE ON PROCEDURE omd.execute_module TO omd_runner;
