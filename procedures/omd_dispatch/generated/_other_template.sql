-- Each worker knows some lanes already and has asked for these, so only the gaps between them are
-- read.

CREATE OR REPLACE FUNCTION omd_dispatch._other_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $other_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_group text,
    p_now timestamptz,
    p_known jsonb
)
RETURNS TABLE (lane text, priority smallint, execution_time timestamptz)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
{settings}
AS $other$
BEGIN
    -- Each gap between two known ones is read by itself, so that nothing of those
    -- is passed over again.
    RETURN QUERY
    WITH RECURSIVE bound AS (
        SELECT p_group COLLATE "C" AS lane, (-1)::smallint AS priority
        UNION ALL
        SELECT k.lane COLLATE "C", k.priority
        FROM jsonb_to_recordset(p_known) AS k (
            family_code text, lane text, priority smallint
        )
        WHERE k.family_code = {family}
    ),
    lanes AS (
        SELECT
            b.lane,
            b.priority,
            'infinity'::timestamptz AS execution_time,
            lead(b.lane, 1, (p_group || '0') COLLATE "C") OVER (
                ORDER BY b.lane, b.priority
            ) AS next_lane,
            lead(b.priority, 1, (-1)::smallint) OVER (
                ORDER BY b.lane, b.priority
            ) AS next_priority
        FROM bound AS b
        UNION ALL
        SELECT n.lane, n.priority, n.execution_time, l.next_lane, l.next_priority
        FROM lanes AS l
        CROSS JOIN LATERAL (
            SELECT t.lane, t.priority, t.execution_time FROM {table} AS t
            WHERE t.status = 'PENDING'
                AND t.suspension_id IS NULL
                AND (t.lane, t.priority) > (l.lane, l.priority)
                AND (t.lane, t.priority) < (l.next_lane, l.next_priority)
            ORDER BY t.lane, t.priority, t.execution_time
            LIMIT 1
        ) AS n
    )
    SELECT l.lane, l.priority, l.execution_time
    FROM lanes AS l
    WHERE l.execution_time <= p_now
        AND (l.lane = p_group COLLATE "C" OR l.lane > (p_group || '/') COLLATE "C");
END
$other$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns lanes and priorities with due tasks that are not in p_known, '
'as _other_lanes says.';
$template$;
END
$other_template$;

COMMENT ON FUNCTION omd_dispatch._other_template IS
'Returns the template of the function of a family that finds further lanes with due tasks. '
'Locks: none.';
