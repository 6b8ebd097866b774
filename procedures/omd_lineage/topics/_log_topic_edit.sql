-- One trigger serves every way in which a definition changes: routines, edits by hand and upgrades.

CREATE OR REPLACE FUNCTION omd_lineage._log_topic_edit()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_topic_edit$
DECLARE
    v_old jsonb := to_jsonb(old) - '{updated_at,updated_by}'::text[];
    v_new jsonb := to_jsonb(new) - '{updated_at,updated_by}'::text[];
BEGIN
    IF v_old IS DISTINCT FROM v_new THEN
        INSERT INTO omd_lineage.topic_history (
            changed_at, changed_by, operation, topic, definition
        )
        VALUES (
            clock_timestamp(), omd.editor(), tg_op, coalesce(new.topic, old.topic),
            coalesce(v_new, v_old)
        );
    END IF;
    RETURN NULL;
END
$log_topic_edit$;

COMMENT ON FUNCTION omd_lineage._log_topic_edit IS
'Trigger: writes the definition of a topic to omd_lineage.topic_history when it has changed. '
'Locks: none.';
