-- Marks are set and taken off in parts. As long as this goes on for a family, what people read asks
-- the suspensions themselves; before and after, the marks say the same for less.

CREATE OR REPLACE FUNCTION omd_dispatch._held_sql(
    p_family_code text,
    p_suspension_id bigint DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $held_sql$
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_suspension AS s
        WHERE s.family_code = p_family_code AND (s.resumed_at IS NOT NULL OR NOT s.is_marked)
    ) THEN
        RETURN coalesce('t.suspension_id = ' || p_suspension_id, 't.suspension_id IS NOT NULL');
    END IF;
    RETURN format(
        'EXISTS (SELECT FROM omd_dispatch.task_suspension AS s'
        ' CROSS JOIN LATERAL omd_dispatch._suspension_holds(s.suspension_id, t.task_type, %1$s)'
        ' WHERE s.family_code = %2$L AND s.resumed_at IS NULL %3$s)',
        omd_dispatch._criteria_sql(p_family_code),
        p_family_code,
        -- Of several that hold a task it belongs to the lowest one.
        CASE
            WHEN p_suspension_id IS NOT NULL
                THEN format(
                    'AND s.suspension_id = %1$s'
                    ' AND omd_dispatch._matching_suspension(%2$L, t.task_type, %3$s) = %1$s',
                    p_suspension_id, p_family_code, omd_dispatch._criteria_sql(p_family_code)
                )
        END
    );
END
$held_sql$;

COMMENT ON FUNCTION omd_dispatch._held_sql IS
'Returns the SQL condition that a suspension holds the pending task t of p_family_code. '
'p_suspension_id: that it belongs to this one. The caller pins DateStyle and TimeZone, as for '
'_criteria_sql. Locks: none.';
