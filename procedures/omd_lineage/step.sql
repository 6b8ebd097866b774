-- Claim and plan are one commit and the rows another, so that a retry finds the block. A procedure
-- that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_lineage.step(
    p_topic text,
    p_hostid text DEFAULT NULL,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_rows bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $step$
DECLARE
    v_indicator pg_catalog.text;
    v_array bigint[];
    v_reason pg_catalog.text;
    v_plan_number bigint;
    v_start_pos pg_catalog.timestamptz;
    v_start_id bigint;
    v_end_pos pg_catalog.timestamptz;
    v_end_id bigint;
    v_status pg_catalog.text;
    v_is_cancelled boolean;
BEGIN
    CALL omd.require_no_transaction_block('omd_lineage.step');
    -- A crash of the server could lose only a plan whose rows are not committed either, so this
    -- commit does not wait for the disk; the next one, with the rows, does.
    PERFORM pg_catalog.set_config('synchronous_commit', 'off', TRUE);
    CALL omd_lineage.begin_step(
        p_topic, p_hostid, NULL, NULL, 'POSTGRES', p_outcome, p_module_instance_id, v_indicator,
        v_array, v_reason, v_plan_number, v_start_pos, v_start_id, v_end_pos, v_end_id, p_detail
    );
    COMMIT;
    IF p_outcome OPERATOR(pg_catalog.=) 'RUN' THEN
        CALL omd.execute_module(
            p_module_instance_id,
            pg_catalog.format(
                'CALL omd_lineage._process_block(%L, %s, %s)',
                p_topic, p_module_instance_id, v_plan_number
            ),
            v_status,
            v_is_cancelled,
            p_keeps_settings => TRUE
        );
        IF v_status OPERATOR(pg_catalog.=) 'S' THEN
            p_outcome := 'DONE';
            p_rows := (
                SELECT l.rows FROM omd_lineage.log AS l
                WHERE l.module_instance_id OPERATOR(pg_catalog.=) p_module_instance_id
            );
            RETURN;
        END IF;
        CALL omd_lineage.fail_step(p_module_instance_id);
        COMMIT;
        IF v_status OPERATOR(pg_catalog.=) 'A' THEN
            p_outcome := 'ABORTED';
            p_detail := 'what it was to read is being taken back; the next step plans its block anew';
            RETURN;
        END IF;
        p_outcome := 'ERROR';
        p_detail := coalesce(omd.why_failed(p_module_instance_id, 0), '');
    ELSE
        v_is_cancelled := p_outcome OPERATOR(pg_catalog.=) 'ERROR'
            AND v_reason OPERATOR(pg_catalog.=) '57014';
    END IF;
    IF v_is_cancelled THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = pg_catalog.format('the step of %s was cancelled', p_topic),
            DETAIL = pg_catalog.jsonb_build_object(
                'module_instance_id', p_module_instance_id
            )::pg_catalog.text,
            HINT = pg_catalog.format(
                'The failure is recorded. CALL omd_lineage.step(%L);', p_topic
            );
    END IF;
END
$step$;

COMMENT ON PROCEDURE omd_lineage.step IS
'Runs one step of the topic p_topic in the database, as p_hostid (NULL: the session). It plans a '
'block, or takes the one that failed, transforms it and moves the offset; rows, offset and success'
' are one commit. Returns p_outcome: DONE, p_module_instance_id has written p_rows rows; NOJOBS, '
'MUTEX, SKIPPED, ABORTED or FAILED, nothing was done; ERROR, everything was undone, and the error '
'was recorded and counts as an attempt. p_detail says why. The ready list heeds repeat, run_window'
' and back-off; step does not. It commits, so call it outside a transaction block. Errors: OM005: '
'p_topic is NULL; OM014: the isolation level is not read committed; OM015: p_topic is not '
'registered; OM018: it is called in a transaction block or from a function; OM208: it has no steps'
' in the database; 57014: it was cancelled, which is recorded. Locks: the offset and the Module '
'row while it begins; what the transforms take. See docs/explanation/lineage.md. May be NULL: '
'p_module_instance_id, p_rows, p_detail.';
REVOKE ALL ON PROCEDURE omd_lineage.step FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.step TO omd_runner;
