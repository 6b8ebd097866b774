-- A Batch is one look into the index of its runs, however many others ran since.

CREATE OR REPLACE FUNCTION omd_web.grid(
    p_like text DEFAULT NULL,
    p_runs integer DEFAULT 30,
    p_limit integer DEFAULT 50,
    p_after text DEFAULT NULL
)
RETURNS TABLE (
    batch_code text,
    "position" integer, -- noqa: RF06
    batch_instance_id bigint,
    execution_status_code text,
    reason_code text,
    start_datetime timestamptz,
    end_datetime timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
ROWS 1500
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $grid$
BEGIN
    PERFORM omd_web._require_count('p_runs', p_runs);
    PERFORM omd_web._require_count('p_limit', p_limit);
    IF p_like ~ '^([^\\]|\\.)*\\$' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_like',
                'value', p_like,
                'expected', 'a pattern of LIKE, which does not end with one backslash'
            )
        );
    END IF;
    RETURN QUERY
    SELECT
        b.batch_code,
        r.place,
        r.batch_instance_id,
        r.execution_status_code,
        r.reason_code,
        r.start_datetime,
        r.end_datetime
    FROM (
        SELECT a.batch_id, a.batch_code
        FROM omd_report.batch_list AS a
        WHERE (p_like IS NULL OR a.batch_code LIKE p_like)
            AND (p_after IS NULL OR a.batch_code > p_after)
        ORDER BY a.batch_code
        LIMIT p_limit
    ) AS b
    LEFT JOIN LATERAL (
        SELECT
            row_number() OVER (ORDER BY n.batch_instance_id DESC)::integer AS place,
            n.batch_instance_id,
            n.execution_status_code::text AS execution_status_code,
            n.reason_code,
            n.start_datetime,
            n.end_datetime
        FROM (
            SELECT bi.*
            FROM omd.followed_batch_instance AS bi
            -- Not =, with which the planner would walk the primary key past other Batches.
            WHERE bi.batch_id >= b.batch_id AND bi.batch_id <= b.batch_id
            ORDER BY bi.batch_id DESC, bi.batch_instance_id DESC
            LIMIT p_runs
        ) AS n
    ) AS r ON TRUE
    ORDER BY b.batch_code, r.place;
END
$grid$;

COMMENT ON FUNCTION omd_web.grid IS
'For rooms: '
'Returns the p_runs newest runs of each Batch, by Batch and the newest first; a Batch that never '
'ran is a row of NULLs. p_like: only the Batches whose code is LIKE it. p_limit: how many '
'Batches. p_after: only those behind this code, for the next page. position: 1 is the newest run. '
'Errors: OM005: p_runs or p_limit is NULL; OM013: an argument is not allowed. Locks: none. May be '
'NULL: position, batch_instance_id, execution_status_code, reason_code, start_datetime, '
'end_datetime.';
GRANT EXECUTE ON FUNCTION omd_web.grid TO omd_reader;
