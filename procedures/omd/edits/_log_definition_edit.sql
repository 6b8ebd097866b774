-- Each change of a definition, by hand or through a routine, leaves one event. The kind of a Module
-- follows from what is registered in its room, and that somebody reads what it writes, that runs of
-- it must come again, or from where on runs execute, is no definition of it: a change of these
-- alone leaves none.

CREATE OR REPLACE FUNCTION omd._log_definition_edit()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $log_definition_edit$
DECLARE
    v_kept constant text[] := '{is_source, awaits_return, executing_from}'::text[];
    v_old jsonb := coalesce(to_jsonb(old) - v_kept, '{}');
    v_new jsonb := coalesce(to_jsonb(new) - v_kept, '{}');
    v_row jsonb := v_old || v_new;
    v_what text;
BEGIN
    IF v_old - '{module_kind_code, engine_code}'::text[]
        = v_new - '{module_kind_code, engine_code}'::text[]
    THEN
        RETURN NULL;
    END IF;

    -- The row is named as people know it.
    v_what := concat_ws(
        ', ',
        'Batch ' || coalesce(
            v_row ->> 'batch_code',
            (SELECT b.batch_code FROM omd.batch AS b WHERE b.batch_id = (v_row ->> 'batch_id')::int)
        ),
        'under ' || (
            SELECT b.batch_code FROM omd.batch AS b
            WHERE b.batch_id = (v_row ->> 'parent_batch_id')::int
        ),
        'Module ' || coalesce(
            v_row ->> 'module_code',
            (
                SELECT m.module_code FROM omd.module AS m
                WHERE m.module_id = (v_row ->> 'module_id')::int
            )
        ),
        'parameter ' || coalesce(
            v_row ->> 'parameter_code',
            (
                SELECT p.parameter_code FROM omd.parameter AS p
                WHERE p.parameter_id = (v_row ->> 'parameter_id')::int
            )
        ),
        CASE WHEN tg_table_name = 'installation' THEN 'this one' END,
        'template ' || (v_row ->> 'rollback_template_id'),
        CASE
            WHEN tg_table_name IN ('area', 'table_type', 'event_type', 'frequency')
                THEN concat(
                    replace(tg_table_name, '_', ' '), ' ', v_row ->> (tg_table_name || '_code')
                )
        END
    );
    PERFORM omd.write_edit(tg_op, tg_table_name, v_what, v_old, v_new);
    RETURN NULL;
END
$log_definition_edit$;

COMMENT ON FUNCTION omd._log_definition_edit IS
'Trigger: writes a change of a definition, a parameter, a rollback template or a reference code '
'to the event log, with the editor and the old and new values in full. It writes nothing when '
'nothing has changed.';
