-- The body is that of _create_one_sql. It has no rights of its own: create_task has them.

CREATE OR REPLACE FUNCTION omd_dispatch._create_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_task_type text,
    p_criteria jsonb,
    p_payload jsonb,
    p_execution_time timestamptz,
    p_priority integer,
    p_on_duplicate text
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
{create_settings}
AS $create$
{create_body}
$create$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns the number of the task that it has created, as _create_one_sql '
'says.';
$template$;
END
$create_template$;

COMMENT ON FUNCTION omd_dispatch._create_template IS
'Returns the template of the function of a family that creates one task. '
'Locks: none.';
