-- A Batch of the grid opens into its Modules: the cells of a Module stand under the runs of the
-- Batch, so position is that of the Batch's run. What ran there and has left the Batch since is
-- shown too.

CREATE OR REPLACE FUNCTION omd_web.grid_modules(
    p_batch_code text,
    p_runs integer DEFAULT 30
)
RETURNS TABLE (
    batch_code text,
    module_code text,
    "position" integer, -- noqa: RF06
    batch_instance_id bigint,
    module_instance_id bigint,
    execution_status_code text,
    reason_code text,
    start_datetime timestamptz,
    end_datetime timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
ROWS 300
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $grid_modules$
DECLARE
    v_batch_id integer;
BEGIN
    PERFORM omd_web._require_count('p_runs', p_runs);
    p_batch_code := omd.require_argument('p_batch_code', p_batch_code);
    SELECT b.batch_id INTO v_batch_id
    FROM omd_report.batch_list AS b
    WHERE b.batch_code = p_batch_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM001', jsonb_build_object('batch_code', p_batch_code));
    END IF;
    RETURN QUERY
    WITH runs AS MATERIALIZED (
        SELECT
            n.batch_instance_id,
            row_number() OVER (ORDER BY n.batch_instance_id DESC)::integer AS place
        FROM (
            SELECT bi.batch_instance_id
            FROM omd.followed_batch_instance AS bi
            -- Not =, with which the planner would walk the primary key past other Batches.
            WHERE bi.batch_id >= v_batch_id AND bi.batch_id <= v_batch_id
            ORDER BY bi.batch_id DESC, bi.batch_instance_id DESC
            LIMIT p_runs
        ) AS n
    ),

    cells AS MATERIALIZED (
        SELECT r.place, r.batch_instance_id, c.*
        FROM runs AS r
        CROSS JOIN LATERAL (
            SELECT DISTINCT ON (l.module_code)
                l.module_code,
                l.module_instance_id,
                l.execution_status_code::text AS execution_status_code,
                l.reason_code,
                l.start_datetime,
                l.end_datetime
            FROM omd_report.module_execution_log AS l
            WHERE l.batch_instance_id = r.batch_instance_id AND l.batch_instance_id <> 0
            ORDER BY l.module_code, l.module_instance_id DESC
        ) AS c
    ),

    modules AS (
        SELECT o.module_code, o.sequence
        FROM omd_report.batch_module_list AS o
        WHERE o.batch_code = p_batch_code AND o.module_code IS NOT NULL
        UNION ALL
        SELECT DISTINCT c.module_code, NULL::integer
        FROM cells AS c
        WHERE NOT EXISTS (
            SELECT FROM omd_report.batch_module_list AS o
            WHERE o.batch_code = p_batch_code AND o.module_code = c.module_code
        )
    )

    SELECT
        p_batch_code,
        m.module_code,
        c.place,
        c.batch_instance_id,
        c.module_instance_id,
        c.execution_status_code,
        c.reason_code,
        c.start_datetime,
        c.end_datetime
    FROM modules AS m
    LEFT JOIN cells AS c ON m.module_code = c.module_code
    ORDER BY m.sequence NULLS LAST, m.module_code, c.place;
END
$grid_modules$;

COMMENT ON FUNCTION omd_web.grid_modules IS
'For rooms: '
'Returns what each Module of the Batch p_batch_code did in the p_runs newest runs of it, in the '
'order in which the Batch runs them; a Module that did not run in these is a row of NULLs. '
'position: the run of the Batch, as in omd_web.grid. Of several runs of a Module in one run of the '
'Batch the newest is shown. Errors: OM001, OM005: an argument is NULL; OM013: p_runs is below 1. '
'Locks: none. May be NULL: position, batch_instance_id, module_instance_id, '
'execution_status_code, reason_code, start_datetime, end_datetime.';
GRANT EXECUTE ON FUNCTION omd_web.grid_modules TO omd_reader;
