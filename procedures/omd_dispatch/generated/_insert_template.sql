-- The statement is that of _create_sql.

CREATE OR REPLACE FUNCTION omd_dispatch._insert_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $insert_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_tasks jsonb,
    p_names jsonb,
    p_left integer[],
    p_type omd_dispatch.task_conf_type_desc,
    p_key_criteria text[],
    p_partition_code integer,
    p_schedule_code text,
    p_is_guarded boolean
)
RETURNS omd_dispatch.created_task[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
{insert_settings}
AS $insert$
#variable_conflict use_column
DECLARE
    v_created omd_dispatch.created_task[];
BEGIN
    {insert_statement}
    INTO v_created;
    RETURN v_created;
END
$insert$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns what has become of the tasks that it has created, as '
'_create_sql says.';
$template$;
END
$insert_template$;

COMMENT ON FUNCTION omd_dispatch._insert_template IS
'Returns the template of the function of a family that creates tasks. '
'Locks: none.';
