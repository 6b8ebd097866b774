-- quiet_start belongs to the position of the offset, so it is cleared when somebody moves the
-- offset by hand.

CREATE OR REPLACE FUNCTION omd_lineage._log_offset_edit()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_offset_edit$
DECLARE
    v_changes text;
BEGIN
    SELECT string_agg(
        format('%s from %L to %L', n.key, to_jsonb(old) ->> n.key, n.value), ', ' ORDER BY n.key
    )
    INTO v_changes
    FROM jsonb_each_text(to_jsonb(new)) AS n
    WHERE to_jsonb(old) -> n.key IS DISTINCT FROM to_jsonb(new) -> n.key;
    IF v_changes IS NULL THEN
        RETURN new;
    END IF;
    IF old.last IS DISTINCT FROM new.last THEN
        new.quiet_start := NULL;
        new.is_whole := FALSE;
        new.waiting_since := clock_timestamp();
    END IF;
    PERFORM omd.write_event(
        0, 0, 4, 'UPDATE offsets',
        format('UPDATE offsets (%s) by %s: %s', new.topic, omd.editor(), v_changes)
    );
    PERFORM omd_lineage._notify_topic(new.topic);
    RETURN new;
END
$log_offset_edit$;

COMMENT ON FUNCTION omd_lineage._log_offset_edit IS
'Trigger: writes an edit of an offset by hand to the event log and clears quiet_start when last '
'changes. Locks: none.';
