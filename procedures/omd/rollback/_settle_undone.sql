-- Whoever begins or ends a run looks whether an undo has been committed since: whose begin draws
-- its id after this look has not read what was undone. What this transaction has undone itself is
-- not committed yet. The newest instance is read after the rows were seen, and nobody waits for a
-- row.

CREATE OR REPLACE FUNCTION omd._settle_undone()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_undone$
DECLARE
    v_ids bigint[];
BEGIN
    -- At another level a row that changed since would be an error.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    SELECT array_agg(u.module_instance_id) INTO v_ids
    FROM (
        SELECT r.module_instance_id
        FROM omd.undone_run AS r
        WHERE r.undone_upto IS NULL AND r.transaction_id IS DISTINCT FROM pg_current_xact_id()
        FOR UPDATE SKIP LOCKED
    ) AS u;
    UPDATE omd.undone_run AS u
    SET undone_upto = pg_sequence_last_value('omd.module_instance_module_instance_id_seq')
    WHERE u.module_instance_id = ANY(v_ids);
END
$settle_undone$;

COMMENT ON FUNCTION omd._settle_undone IS
'Notes, of the undone runs whose undo is committed, the newest instance that may have read them. '
'Locks: the rows of these runs; it passes over those that others hold.';
