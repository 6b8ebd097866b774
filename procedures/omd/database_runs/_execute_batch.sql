-- Each step commits, so that the Batch is visible while it runs. A procedure that commits can't set
-- a search_path, so every name, type and operator is qualified. The members run one after the
-- other; omd.next_member says which is next, and when it is over.

CREATE OR REPLACE PROCEDURE omd._execute_batch(
    p_batch_code text,
    p_parent_batch_instance_id bigint,
    p_force boolean,
    INOUT p_batch_instance_id bigint DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL,
    INOUT p_is_cancelled boolean DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $execute_batch$
DECLARE
    v_indicator pg_catalog.text;
    v_act pg_catalog.text;
    v_type pg_catalog.text;
    v_code pg_catalog.text;
    v_problem pg_catalog.text;
    v_member_id bigint;
    v_member_status pg_catalog.text;
    v_member_detail pg_catalog.text;
    v_error pg_catalog.jsonb;
    v_failures pg_catalog.text;
BEGIN
    p_is_cancelled := FALSE;
    p_batch_instance_id := omd._insert_batch_instance(
        p_batch_code,
        p_parent_batch_instance_id,
        omd._session_context(p_execution_context),
        NULL,
        TRUE
    );
    SELECT d.p_processing_indicator INTO v_indicator
    FROM omd._decide_batch(p_batch_instance_id, p_force) AS d;
    COMMIT;
    p_execution_status_code := v_indicator;
    IF v_indicator OPERATOR(pg_catalog.<>) 'P' THEN
        RETURN;
    END IF;

    LOOP
        SELECT n.act, n.member_type, n.member_code, n.detail
        INTO v_act, v_type, v_code, v_failures
        FROM omd.next_member(p_batch_instance_id, v_type, v_code, v_problem) AS n;
        COMMIT;
        EXIT WHEN v_act OPERATOR(pg_catalog.<>) 'MEMBER';
        v_problem := NULL;
        v_member_id := NULL;
        v_member_status := NULL;
        v_error := NULL;
        IF v_type OPERATOR(pg_catalog.=) 'BATCH' THEN
            CALL omd._execute_batch(
                v_code, p_batch_instance_id, p_force, v_member_id, v_member_status, p_is_cancelled
            );
        ELSE
            CALL omd._execute_runs(
                v_code, p_batch_instance_id, NULL, NULL, TRUE, v_member_id, v_member_status,
                v_member_detail, p_is_cancelled, v_error
            );
        END IF;
        -- A Module that can't even begin (no template, no target) fails the Batch.
        IF v_member_status OPERATOR(pg_catalog.=) 'F' THEN
            v_problem := omd._member_problem(v_error);
        END IF;
        IF p_is_cancelled THEN
            PERFORM FROM omd.next_member(p_batch_instance_id, v_type, v_code, v_problem);
            SELECT pg_catalog.string_agg(m.failure, E'\n' ORDER BY m.place) INTO v_failures
            FROM omd._members_of_instance(p_batch_instance_id) AS m;
            EXIT;
        END IF;
    END LOOP;
    v_failures := coalesce(v_failures, '');

    IF v_failures OPERATOR(pg_catalog.=) '' THEN
        BEGIN
            CALL omd.batch_success(p_batch_instance_id);
            p_execution_status_code := 'S';
        EXCEPTION
            -- Another session runs a Module in this Batch Instance or has failed it, or the
            -- statement is cancelled.
            WHEN query_canceled OR assert_failure OR OTHERS THEN
                p_is_cancelled := SQLSTATE OPERATOR(pg_catalog.=) '57014';
                v_failures := SQLERRM;
        END;
    END IF;
    IF v_failures OPERATOR(pg_catalog.<>) '' THEN
        p_execution_status_code := 'F';
        BEGIN
            CALL omd.batch_failure(p_batch_instance_id, v_failures, 'MEMBER FAILED');
        EXCEPTION
            -- Another session ended the instance in the meantime, and its event is written already.
            WHEN SQLSTATE 'OM101' THEN
                NULL;
        END;
    END IF;
    COMMIT;
END
$execute_batch$;

COMMENT ON PROCEDURE omd._execute_batch IS
'Runs the Batch p_batch_code in this statement, with its child Batches, ends its instance with S '
'or F, and commits. With p_force the frequency of these Batches does not count. p_is_cancelled is '
'true when the statement was cancelled and nothing more was tried. p_execution_context: JSON about '
'where the Batch runs. Errors: OM001, OM003, OM005, OM013, OM014. Locks: the Batch row while it '
'begins.';
GRANT EXECUTE ON PROCEDURE omd._execute_batch TO omd_runner;
