-- register_module has the rights of its caller, who may not write omd.module.

CREATE OR REPLACE FUNCTION omd._save_start_hint(
    p_module_code text,
    p_start_hint text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_start_hint$
BEGIN
    UPDATE omd.module AS m SET start_hint = nullif(p_start_hint, '')
    WHERE m.module_id = omd._require_module(p_module_code)
        AND m.start_hint IS DISTINCT FROM nullif(p_start_hint, '');
END
$save_start_hint$;

COMMENT ON FUNCTION omd._save_start_hint IS
'Writes down how a person starts the Module p_module_code again: p_start_hint; an empty one '
'removes it. Errors: OM002, OM005. Locks: the Module row.';
GRANT EXECUTE ON FUNCTION omd._save_start_hint TO omd_admin;
