-- It deletes a few thousand rows per transaction, so that senders wait for a moment only. A
-- procedure that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_event.purge_events(
    INOUT p_deleted bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge_events$
DECLARE
    v_deleted bigint;
BEGIN
    CALL omd.require_no_transaction_block('omd_event.purge_events');
    p_deleted := 0;
    LOOP
        v_deleted := omd_event._purge_step();
        p_deleted := p_deleted OPERATOR(pg_catalog.+) v_deleted;
        EXIT WHEN v_deleted OPERATOR(pg_catalog.=) 0;
        COMMIT;
    END LOOP;
    IF p_deleted OPERATOR(pg_catalog.>) 0 THEN
        PERFORM omd_event._log_purge(p_deleted);
    END IF;
    COMMIT;
END
$purge_events$;

COMMENT ON PROCEDURE omd_event.purge_events IS
'Deletes the events that are older than the setting keep (30 days at first) and that no active '
'sink waits for, and all that are twice as old; p_deleted says how many. A sink that had not got '
'them goes on with the oldest that is kept, and omd_report.problems says so. It commits, so call '
'it outside a transaction block. Errors: OM005, OM018. Locks: the rows of the sinks, for one '
'transaction. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_event.purge_events FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_event.purge_events TO omd_admin;
