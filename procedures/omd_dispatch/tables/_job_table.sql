-- The old model has tables for each type; p_part stands between job_ and the type.

CREATE OR REPLACE FUNCTION omd_dispatch._job_table(
    p_task_type text,
    p_part text DEFAULT ''
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT format('omd_dispatch.%I', 'job_' || p_part || lower(p_task_type));
END;

COMMENT ON FUNCTION omd_dispatch._job_table IS
'Returns the qualified name of the table of the type p_task_type in the old model; p_part '
'criteria_value_ names that of its criteria. Locks: none.';
