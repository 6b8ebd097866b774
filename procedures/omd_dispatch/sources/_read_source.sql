-- A source is read with the rights of the worker that calls, since anybody may have written its
-- view. What its code sets for the session would hold for the statements after it, so that is an
-- error.

CREATE OR REPLACE FUNCTION omd_dispatch._read_source(
    p_source text,
    p_criteria jsonb,
    p_limit integer DEFAULT NULL
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $read_source$
DECLARE
    -- What decides what the statements after it do, and as whom.
    c_settings CONSTANT text[] := ARRAY[
        'role', 'session_authorization', 'session_replication_role', 'row_security',
        'transaction_read_only', 'default_transaction_read_only', 'default_transaction_isolation'
    ];
    v_settings CONSTANT text[] := ARRAY(SELECT current_setting(c) FROM unnest(c_settings) AS c);
    v_tasks jsonb;
    v_changed text;
BEGIN
    EXECUTE format(
        'SELECT coalesce(jsonb_agg(jsonb_build_object(''criteria'', $1'
        ' || (SELECT coalesce(jsonb_object_agg(upper(c.key), c.value), ''{}'')'
        ' FROM jsonb_each(to_jsonb(s) - ''payload'' - ''priority'') AS c))'
        ' || (SELECT coalesce(jsonb_object_agg(c.key, c.value), ''{}'')'
        ' FROM jsonb_each(to_jsonb(s)) AS c WHERE c.value <> ''null'''
        ' AND c.key IN (''payload'', ''priority''))), ''[]'') FROM %s AS s',
        CASE
            WHEN p_limit IS NULL THEN omd.quote_table(p_source, 'POSTGRES')
            ELSE format(
                '(SELECT * FROM %s LIMIT %s)', omd.quote_table(p_source, 'POSTGRES'), p_limit
            )
        END
    )
    INTO v_tasks
    USING p_criteria;
    SELECT c.name INTO v_changed
    FROM unnest(c_settings, v_settings) AS c (name, setting)
    WHERE current_setting(c.name) <> c.setting
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'raise_exception',
            MESSAGE = format('the source %s changes the setting %s', p_source, v_changed);
    END IF;
    RETURN v_tasks;
END
$read_source$;

COMMENT ON FUNCTION omd_dispatch._read_source IS
'Returns the rows of the view p_source (at most p_limit; NULL: all) as tasks, an array as '
'create_tasks takes it: its columns are criteria, added to p_criteria, payload and priority. '
'Errors: those of the view; P0001: it changes a setting. Locks: what the view takes.';
GRANT EXECUTE ON FUNCTION omd_dispatch._read_source TO omd_runner, omd_admin;
