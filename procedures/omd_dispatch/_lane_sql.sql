-- The lane is computed in one place, as SQL, because it is needed for one task, for a thousand, and
-- for those that a change of a setting moves.

CREATE OR REPLACE FUNCTION omd_dispatch._lane_sql(
    p_type omd_dispatch.task_conf_type_desc
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN (p_type).max_running IS NULL THEN quote_literal((p_type).deliver_id)
            WHEN (p_type).limit_criterion IS NULL
                THEN quote_literal((p_type).deliver_id || '/' || (p_type).task_type)
            ELSE
                format(
                    '%L || coalesce(''/'' || (c.criteria ->> %L), '''')',
                    (p_type).deliver_id || '/' || (p_type).task_type,
                    (p_type).limit_criterion
                )
        END;
END;

COMMENT ON FUNCTION omd_dispatch._lane_sql IS
'Returns the SQL expression of the lane of a task of p_type: its group; GROUP/TYPE where the type '
'is limited; GROUP/TYPE/value where each value of a criterion is limited apart. It reads the '
'criteria from c.criteria. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._lane_sql FROM PUBLIC;
