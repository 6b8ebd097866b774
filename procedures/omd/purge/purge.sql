-- A step deletes a few thousand rows, and is followed by a COMMIT: so no lock lasts long, and a
-- purge that was stopped can be called again. A procedure that commits can't set a search_path, so
-- every name is qualified.

CREATE OR REPLACE PROCEDURE omd.purge(
    p_keep interval,
    p_room text DEFAULT NULL,
    INOUT p_deleted jsonb DEFAULT NULL,
    INOUT p_failed jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge$
DECLARE
    v_before pg_catalog.timestamptz;
    v_step omd.purge_step;
    v_last bigint;
    v_deleted bigint;
BEGIN
    CALL omd.require_no_transaction_block('omd.purge');
    PERFORM omd._require_purge(p_keep, p_room);
    v_before := 'infinity'::pg_catalog.timestamptz;
    IF p_keep IS NOT NULL THEN
        v_before := omd.purge_cutoff(p_keep, 1);
    END IF;
    -- Who stops it can't leave it without a trace.
    PERFORM omd._note_purge(p_keep, v_before, NULL, NULL);
    COMMIT;
    p_deleted := '{}'::pg_catalog.jsonb;
    p_failed := NULL;
    LOOP
        SELECT s.* INTO v_step
        FROM omd.purge_step AS s
        WHERE (s.schema_name, s.position) OPERATOR(pg_catalog.>) (
            coalesce(v_step.schema_name, ''), coalesce(v_step.position, 0)
        )
            AND (p_room IS NULL OR s.schema_name OPERATOR(pg_catalog.=) p_room)
            AND (p_keep IS NOT NULL OR NOT s.needs_keep)
        ORDER BY s.schema_name, s.position
        LIMIT 1;
        EXIT WHEN NOT FOUND;
        v_last := NULL;
        v_deleted := 0;
        LOOP
            BEGIN
                EXECUTE pg_catalog.format(
                    'SELECT s.p_last_id, s.p_deleted FROM %I.%I($1, $2, $3, $4) AS s',
                    v_step.schema_name, v_step.step_routine
                )
                INTO v_last, v_deleted
                USING v_before, v_step.rows_per_step, v_last, v_deleted;
            EXCEPTION
                WHEN OTHERS THEN
                    RAISE WARNING USING
                        MESSAGE = pg_catalog.format(
                            'the purge of %s failed: %s', v_step.schema_name, SQLERRM
                        );
                    p_failed := coalesce(p_failed, '{}'::pg_catalog.jsonb)
                        OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(
                            v_step.schema_name, pg_catalog.concat_ws(' ', SQLSTATE, SQLERRM)
                        );
                    v_last := NULL;
                    -- What follows in this room may rely on it.
                    v_step.position := 32767;
            END;
            COMMIT;
            EXIT WHEN v_last IS NULL;
        END LOOP;
        IF v_step.table_code IS NOT NULL THEN
            p_deleted := p_deleted OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(
                v_step.table_code, v_deleted
            );
        END IF;
    END LOOP;
    PERFORM omd._note_purge(p_keep, v_before, p_deleted, p_failed);
    COMMIT;
END
$purge$;

COMMENT ON PROCEDURE omd.purge IS
'Deletes the history that nothing needs, some thousand rows per transaction. p_keep: what is '
'newer stays; NULL: only keys of changes of facts that every reader has passed are deleted, of '
'any age. p_room: the schema of one room, as omd_facts; NULL: all rooms. What goes. omd: Module '
'Instances with their load windows, Batch Instances, and the log of both. It keeps, however old '
'it is: what executes, waits for a rollback or carries a directive, and everything since then of '
'the same Module or Batch; the last real run; the newest load window; failed Batches that wait '
'for a restart; events of what is kept; what a room that follows the instances has not met; for '
'90 days, changes by administrators. omd_lineage: the log of steps with the rows that they have '
'replaced by key, unless their undo is pending. omd_decision: cycles and rejects. omd_delivery: '
'deltas and samples of deliveries that have ended; their counts stay. omd_event: published '
'events, as the setting keep of that room says, and costs of purged runs. omd_facts: keys of '
'changes that every reader has passed; a block that begins before them is refused, but for one '
'from the beginning. Tasks go by omd_dispatch.purge_family. What has gone can''t be traced or '
'undone any more. It returns p_deleted, the numbers of deleted rows by table, and p_failed, the '
'errors by room: a room that fails stops no other. May be NULL: p_failed. Events say who purged '
'what. It commits, so call it outside a transaction block. Errors: OM005: p_keep is NULL, and '
'p_room deletes nothing without it; OM013: p_keep is negative, or p_room is no such room; OM018. '
'Locks: rows that no run looks at, the interface of a delivery or of facts, the sinks, each for '
'one transaction. Call again when the answer was lost. It may take long.';
GRANT EXECUTE ON PROCEDURE omd.purge TO omd_admin;
