-- A view asks too, so it must not be volatile.

CREATE OR REPLACE FUNCTION omd_facts._export_lives(
    p_module_instance_id bigint
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $export_lives$
BEGIN
    RETURN coalesce(omd.instance_lives(p_module_instance_id), FALSE);
END
$export_lives$;

COMMENT ON FUNCTION omd_facts._export_lives IS
'Returns whether the run p_module_instance_id of an export lives; FALSE for NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts._export_lives TO omd_reader;
