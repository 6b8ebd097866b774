-- It is the guard of every task that is created, claimed or released, so that marks, which come
-- later where there are many tasks, only save work.

CREATE OR REPLACE FUNCTION omd_dispatch._matching_suspension(
    p_family_code text,
    p_task_type text,
    p_criteria jsonb
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
        AND EXISTS (
            SELECT FROM omd_dispatch._suspension_holds(s.suspension_id, p_task_type, p_criteria)
        );
END;

COMMENT ON FUNCTION omd_dispatch._matching_suspension IS
'Returns the lowest suspension that holds a task of the type p_task_type in p_family_code with the'
' criteria p_criteria (as _criteria_sql gives them). NULL: none does. Locks: none.';
