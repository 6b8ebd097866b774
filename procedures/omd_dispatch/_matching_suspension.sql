-- It is the guard of every task that is created, claimed or let go, so that marks, which come later
-- where there are many tasks, only save work.

CREATE OR REPLACE FUNCTION omd_dispatch._matching_suspension(
    p_family_code text,
    p_task_type text,
    p_criteria jsonb,
    p_but bigint DEFAULT NULL
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT min(s.suspension_id)
    FROM omd_dispatch.task_suspension AS s
    WHERE
        s.family_code = p_family_code
        AND s.resumed_at IS NULL
        AND s.suspension_id IS DISTINCT FROM p_but
        AND (
            NOT EXISTS (
                SELECT FROM omd_dispatch.task_suspension_types AS t
                WHERE t.suspension_id = s.suspension_id
            )
            OR EXISTS (
                SELECT FROM omd_dispatch.task_suspension_types AS t
                WHERE t.suspension_id = s.suspension_id AND t.task_type = p_task_type
            )
        )
        AND NOT EXISTS (
            SELECT FROM omd_dispatch.task_suspension_criteria AS c
            WHERE c.suspension_id = s.suspension_id
            GROUP BY c.criterion
            HAVING NOT coalesce(bool_or(c.criterion_value = p_criteria ->> c.criterion), FALSE)
        );
END;

COMMENT ON FUNCTION omd_dispatch._matching_suspension IS
'Returns the lowest suspension that holds a task of the type p_task_type in p_family_code with the '
'criteria p_criteria (as _criteria_sql gives them); p_but is not looked at. NULL: none does. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_dispatch._matching_suspension FROM PUBLIC;
