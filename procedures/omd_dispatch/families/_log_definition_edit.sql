-- One trigger serves every way in which the configuration changes: routines and edits by hand. What
-- a firing writes to a schedule or a source is no edit; it is known by last_fired_at, and of a
-- source by is_firing too.

CREATE OR REPLACE FUNCTION omd_dispatch._log_definition_edit()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_definition_edit$
DECLARE
    v_old jsonb := coalesce(to_jsonb(old), '{}');
    v_new jsonb := coalesce(to_jsonb(new), '{}');
    v_row jsonb := v_old || v_new;
BEGIN
    IF v_old = v_new
        OR (
            tg_op = 'UPDATE'
            AND (
                v_old -> 'last_fired_at' <> v_new -> 'last_fired_at'
                OR (tg_table_name = 'task_source' AND v_old -> 'is_firing' = 'true')
            )
        )
    THEN
        RETURN NULL;
    END IF;
    PERFORM omd.write_edit(
        tg_op,
        tg_table_name,
        concat_ws(
            ' ',
            v_row ->> 'schedule_code',
            v_row ->> 'backend_id',
            v_row ->> 'family_code',
            v_row ->> 'task_type',
            v_row ->> 'index_name',
            v_row ->> 'criterion'
        ),
        v_old,
        v_new
    );
    RETURN NULL;
END
$log_definition_edit$;

COMMENT ON FUNCTION omd_dispatch._log_definition_edit IS
'Trigger: writes a change of the configuration or of a schedule, or the removal of a worker, to '
'the event log, with the editor and the old and new values in full. It writes nothing when nothing'
' has changed. Locks: none.';
