-- Everybody shows the criteria of a task in the same way. The caller pins TimeZone, so that equal
-- values have equal texts.

CREATE OR REPLACE FUNCTION omd_dispatch._criteria_sql(
    p_family_code text,
    p_is_new boolean DEFAULT NULL
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            'jsonb_strip_nulls(jsonb_build_object('
            || string_agg(
                CASE
                    WHEN
                        coalesce(p_is_new, omd_dispatch._migration_status(p_family_code) >= 3)
                        THEN format('%L, t.%I', m.criterion, 'func_' || lower(m.criterion))
                    ELSE
                        format(
                            '%1$L, (SELECT v.criterion_value FROM omd_dispatch.%2$I AS v'
                            ' WHERE v.task_id = t.task_id AND v.criterion = %1$L)::%3$s',
                            m.criterion,
                            'old_task_criteria_' || lower(p_family_code),
                            m.data_type
                        )
                END,
                ', ' ORDER BY m.criterion
            )
            || '))',
            '''{}''::jsonb'
        )
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code;
END;

COMMENT ON FUNCTION omd_dispatch._criteria_sql IS
'Returns the SQL expression of the criteria of a task t of p_family_code: a JSON object without '
'nulls. p_is_new: in the new or the old model; NULL: in the master. Locks: none.';
