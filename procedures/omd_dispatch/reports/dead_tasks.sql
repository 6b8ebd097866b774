-- Dead tasks may be a million, and a screen shows a page of them. Each family gives its newest ones
-- from the index of dead tasks, and the newest of all of these are the page.

CREATE OR REPLACE FUNCTION omd_dispatch.dead_tasks(
    p_limit integer DEFAULT 100,
    p_before_task_id bigint DEFAULT NULL
)
RETURNS TABLE (
    task_id bigint,
    family_code text,
    task_type text,
    criteria jsonb,
    attempt integer,
    finished_at timestamptz,
    error text,
    batch_instance_id bigint,
    module_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 100
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $dead_tasks$
DECLARE
    v_parts text;
BEGIN
    p_limit := omd.require_argument('p_limit', p_limit);
    IF p_limit < 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_limit', 'value', p_limit, 'expected', '1 or more')
        );
    END IF;
    SELECT string_agg(
        format(
            '(SELECT t.task_id, %L AS family_code, t.task_type, %s AS criteria, t.attempt,'
            ' t.finished_at, t.error, t.batch_instance_id, t.module_instance_id'
            ' FROM %s AS t WHERE t.status = ''DEAD'' AND t.task_id < $1'
            ' ORDER BY t.task_id DESC LIMIT $2)',
            f.family_code,
            omd_dispatch._criteria_sql(f.family_code),
            omd_dispatch._model_table(f.family_code)
        ),
        ' UNION ALL ' ORDER BY f.family_code
    )
    INTO v_parts
    FROM omd_dispatch.task_conf_family_desc AS f;
    IF v_parts IS NOT NULL THEN
        RETURN QUERY EXECUTE format(
            'SELECT d.task_id, d.family_code, d.task_type, d.criteria, d.attempt, d.finished_at,'
            ' omd_dispatch._shown_error(d.error), d.batch_instance_id, d.module_instance_id'
            ' FROM (SELECT a.* FROM (%s) AS a ORDER BY a.task_id DESC LIMIT $2) AS d'
            ' ORDER BY d.task_id DESC',
            v_parts
        ) USING coalesce(p_before_task_id, 9223372036854775807), p_limit;
    END IF;
END
$dead_tasks$;

COMMENT ON FUNCTION omd_dispatch.dead_tasks IS
'For the driver: Returns the p_limit newest dead tasks of all families, the newest first, as '
'omd_report.dispatch_dead shows them; it reads no others. p_before_task_id: only older ones, for '
'the next page. Errors: OM005: p_limit is NULL; OM013: it is below 1. Locks: none. May be NULL: '
'error, batch_instance_id, module_instance_id.';
GRANT EXECUTE ON FUNCTION omd_dispatch.dead_tasks TO omd_reader;
