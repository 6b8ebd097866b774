-- This is the only place that says what a suspension holds. As a set of rows it becomes a part of
-- the statement that asks for many tasks; as a value it would be a statement for each of them.

CREATE OR REPLACE FUNCTION omd_dispatch._suspension_holds(
    p_suspension_id bigint,
    p_task_type text,
    p_criteria jsonb
)
RETURNS TABLE (
    is_held boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT TRUE
    WHERE
        (
            NOT EXISTS (
                SELECT FROM omd_dispatch.task_suspension_types AS t
                WHERE t.suspension_id = p_suspension_id
            )
            OR EXISTS (
                SELECT FROM omd_dispatch.task_suspension_types AS t
                WHERE t.suspension_id = p_suspension_id AND t.task_type = p_task_type
            )
        )
        AND NOT EXISTS (
            SELECT FROM omd_dispatch.task_suspension_criteria AS c
            WHERE c.suspension_id = p_suspension_id
            GROUP BY c.criterion
            HAVING NOT coalesce(bool_or(c.criterion_value = p_criteria ->> c.criterion), FALSE)
        );
END;

COMMENT ON FUNCTION omd_dispatch._suspension_holds IS
'Returns a row if the suspension p_suspension_id holds a task of its family with the type '
'p_task_type and the criteria p_criteria (as _criteria_sql gives them): one of its types, and of '
'each of its criteria one of its values. Locks: none.';
