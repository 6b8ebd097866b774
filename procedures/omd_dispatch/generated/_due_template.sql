-- The worker asks this most of all, each time that it could take something.

CREATE OR REPLACE FUNCTION omd_dispatch._due_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $due_template$
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
AS $due$
BEGIN
    IF p_known IS NOT NULL THEN
        RETURN QUERY
        SELECT k.lane, k.priority, d.execution_time
        FROM jsonb_to_recordset(p_known) AS k (
            family_code text, lane text, priority smallint, begins_at timestamptz
        )
        CROSS JOIN LATERAL (
            SELECT t.execution_time FROM {table} AS t
            WHERE t.status = 'PENDING'
                AND t.suspension_id IS NULL
                AND t.lane = k.lane COLLATE "C"
                AND t.priority = k.priority
                AND t.execution_time >= k.begins_at
                AND t.execution_time <= p_now
            ORDER BY t.execution_time
            LIMIT 1
        ) AS d
        WHERE k.family_code = {family};
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE lanes AS (
        SELECT
            p_group COLLATE "C" AS lane,
            (-1)::smallint AS priority,
            'infinity'::timestamptz AS execution_time
        UNION ALL
        SELECT n.lane, n.priority, n.execution_time
        FROM lanes AS l
        CROSS JOIN LATERAL (
            SELECT t.lane, t.priority, t.execution_time FROM {table} AS t
            WHERE t.status = 'PENDING'
                AND t.suspension_id IS NULL
                AND (t.lane, t.priority) > (l.lane, l.priority)
                AND t.lane < (p_group || '0') COLLATE "C"
            ORDER BY t.lane, t.priority, t.execution_time
            LIMIT 1
        ) AS n
    )
    SELECT l.lane, l.priority, l.execution_time
    FROM lanes AS l
    WHERE l.execution_time <= p_now
        AND (l.lane = p_group COLLATE "C" OR l.lane > (p_group || '/') COLLATE "C");
END
$due$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns lanes and priorities with due tasks, as _due_lanes says.';
$template$;
END
$due_template$;

COMMENT ON FUNCTION omd_dispatch._due_template IS
'Returns the template of the function of a family that finds lanes with due tasks. '
'Locks: none.';
