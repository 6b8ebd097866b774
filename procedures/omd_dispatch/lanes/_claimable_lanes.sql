-- The order of lanes is that of their first tasks. A lane comes with all its priorities, one after
-- the other.

CREATE OR REPLACE FUNCTION omd_dispatch._claimable_lanes(
    p_group text,
    p_now timestamptz,
    p_known jsonb,
    p_has_new boolean,
    p_passed_over text[]
)
RETURNS TABLE (
    family_code text,
    lane text,
    priority smallint,
    execution_time timestamptz,
    max_running integer,
    is_guarded boolean
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claimable_lanes$
BEGIN
    RETURN QUERY
    SELECT
        f.family_code,
        d.lane,
        d.priority,
        d.execution_time,
        (
            SELECT t.max_running FROM omd_dispatch.task_conf_type_desc AS t
            WHERE t.family_code = f.family_code AND t.task_type = split_part(d.lane, '/', 2)
        ),
        EXISTS (
            SELECT FROM omd_dispatch.task_suspension AS s
            WHERE s.family_code = f.family_code AND s.resumed_at IS NULL
        )
    FROM (
        SELECT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
        WHERE t.deliver_id = p_group
            AND (
                p_known IS NULL
                OR p_has_new
                OR p_known @> jsonb_build_array(jsonb_build_object('family_code', t.family_code))
            )
            AND t.family_code <> ALL(p_passed_over)
        GROUP BY t.family_code
    ) AS f
    CROSS JOIN LATERAL (
        SELECT k.lane, k.priority, k.execution_time
        FROM omd_dispatch._due_lanes(f.family_code, p_group, p_now, p_known) AS k
        UNION ALL
        SELECT o.lane, o.priority, o.execution_time
        FROM omd_dispatch._other_lanes(f.family_code, p_group, p_now, p_known) AS o
        WHERE p_has_new AND p_known IS NOT NULL
    ) AS d
    WINDOW lane AS (PARTITION BY f.family_code, d.lane ORDER BY d.priority)
    ORDER BY
        first_value(d.priority) OVER lane,
        first_value(d.execution_time) OVER lane,
        f.family_code,
        d.lane,
        d.priority;
END
$claimable_lanes$;

COMMENT ON FUNCTION omd_dispatch._claimable_lanes IS
'Returns the lanes of the group p_group in which tasks are due at p_now, of all families but '
'p_passed_over, with their priorities, in the order in which they are claimed; max_running is the '
'limit of the lane, is_guarded says that suspensions of the family hold. p_known: as in _due_lanes;'
' with p_has_new all others too. Locks: none.';
