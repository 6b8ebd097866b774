-- V086: facts: changes that a recall takes back. Whoever has read their keys is taken back too, so
-- nobody who begins before them meets these keys. Applied once.

ALTER TABLE omd_facts.change ADD COLUMN is_recall boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd_facts.change.is_recall IS 'Whether it is the UNDO of a recall.';

ALTER TABLE omd_facts.change_key ADD COLUMN undone_from bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd_facts.change_key.undone_from IS
'Of the UNDO of a recall: the first change of the key that it took back, whose key is gone; only a '
'block that begins there or later shows it. 0: every block shows it.';

ALTER TABLE omd_facts.change_slice ADD COLUMN undone_from bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd_facts.change_slice.undone_from IS
'Of the UNDO of a recall: the first change of the slice that it took back. 0: every block shows '
'it.';

-- A load in the middle asks for those that stand after it, by their transaction time.
CREATE INDEX ix_load_log_standing
ON omd_facts.load_log (interface_id, transaction_datetime) WHERE undone_by IS NULL;

-- Their parameters change: their files create them again. A call that executes one goes on, under
-- another name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['undo_load', 'undo_change'] LOOP
        IF to_regproc('omd_facts._' || v_name) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_facts.%I IS %L', '_' || v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd_facts.%I RENAME TO %I', '_' || v_name, '_former_' || v_name
            );
        END IF;
    END LOOP;
END
$do$;
