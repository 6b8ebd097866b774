-- The lane is computed in one place, for one task, for a thousand, and for those that a change of a
-- setting moves. It is a plain expression, so the planner inlines it.

CREATE OR REPLACE FUNCTION omd_dispatch._lane(
    p_type omd_dispatch.task_conf_type_desc,
    p_criteria jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN (p_type).max_running IS NULL THEN (p_type).deliver_id
            ELSE
                (p_type).deliver_id || '/' || (p_type).task_type
                || coalesce('/' || (p_criteria ->> (p_type).limit_criterion), '')
        END;
END;

COMMENT ON FUNCTION omd_dispatch._lane IS
'Returns the lane of a task of p_type with p_criteria: its group; GROUP/TYPE where the type is '
'limited; GROUP/TYPE/value where each value of a criterion is limited apart. Locks: none.';
