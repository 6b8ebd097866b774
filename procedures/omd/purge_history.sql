-- It deletes a few thousand rows per transaction, so that no lock lasts long and a purge that was
-- stopped can be called again. A procedure that commits can't set a search_path, so every name is
-- qualified.

CREATE OR REPLACE PROCEDURE omd.purge_history(
    p_keep interval,
    p_batch_size integer DEFAULT 5000,
    INOUT p_module_instances bigint DEFAULT NULL,
    INOUT p_batch_instances bigint DEFAULT NULL,
    INOUT p_events bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge_history$
DECLARE
    v_before pg_catalog.timestamptz;
    v_last bigint;
    v_noted bigint;
BEGIN
    CALL omd.require_no_transaction_block('omd.purge_history');
    v_before := omd.purge_cutoff(p_keep, p_batch_size);
    -- Who stops it can't leave it without a trace.
    PERFORM omd._record_purge(v_before, NULL, NULL, NULL);
    COMMIT;
    -- What has ended is noted before it goes. Who is at it already is waited for.
    LOOP
        v_noted := omd._before_purge();
        COMMIT;
        EXIT WHEN v_noted OPERATOR(pg_catalog.=) 0;
        IF v_noted IS NULL THEN
            PERFORM pg_catalog.pg_sleep(0.05);
        END IF;
    END LOOP;

    p_module_instances := 0;
    v_last := 0;
    WHILE v_last IS NOT NULL LOOP
        SELECT s.p_last_id, s.p_deleted INTO v_last, p_module_instances
        FROM omd._purge_module_instances(v_before, p_batch_size, v_last, p_module_instances) AS s;
        COMMIT;
    END LOOP;

    p_batch_instances := 0;
    LOOP
        SELECT s.p_last_id, s.p_deleted INTO v_last, p_batch_instances
        FROM omd._purge_batch_instances(v_before, p_batch_size, v_last, p_batch_instances) AS s;
        COMMIT;
        EXIT WHEN v_last IS NULL;
    END LOOP;

    p_events := 0;
    v_last := 0;
    WHILE v_last IS NOT NULL LOOP
        SELECT s.p_last_id, s.p_deleted INTO v_last, p_events
        FROM omd._purge_events(v_before, p_batch_size, v_last, p_events) AS s;
        COMMIT;
    END LOOP;
    PERFORM omd._record_purge(v_before, p_module_instances, p_batch_instances, p_events);
    COMMIT;
END
$purge_history$;

COMMENT ON PROCEDURE omd.purge_history IS
'Deletes Module Instances with their load windows, Batch Instances and events older than p_keep '
'(an interval), p_batch_size rows per transaction. It keeps, however old it is: what executes, '
'waits for a rollback or carries a directive, and everything since then of the same Module or '
'Batch; the last real run; the newest load window; failed Batches that wait for a restart; events '
'of what is kept; what a room that follows the instances has not met; for 90 days, changes by '
'administrators. Events say who purged what. It returns '
'the numbers of deleted rows. A deleted instance in a target can no longer be traced. It commits, '
'so call it outside a transaction block. Errors: OM005, OM013, OM018. Locks: rows that no run '
'looks at, for one transaction. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd.purge_history FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.purge_history TO omd_admin;
