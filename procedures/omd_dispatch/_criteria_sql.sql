-- Everybody shows the criteria of a task in the same way. The caller pins TimeZone, so that equal
-- values have equal texts.

CREATE OR REPLACE FUNCTION omd_dispatch._criteria_sql(
    p_family_code text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            'jsonb_strip_nulls(jsonb_build_object(%s))',
            string_agg(
                format('%L, %I', m.criterion, 'func_' || lower(m.criterion)),
                ', ' ORDER BY m.criterion
            )
        )
    FROM omd_dispatch.task_conf_family_model AS m
    WHERE m.family_code = p_family_code;
END;

COMMENT ON FUNCTION omd_dispatch._criteria_sql IS
'Returns the SQL expression of the criteria of a task of p_family_code: a JSON object without '
'nulls. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._criteria_sql FROM PUBLIC;
