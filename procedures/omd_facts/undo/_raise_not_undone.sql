-- Every reason is reported alike.

CREATE OR REPLACE FUNCTION omd_facts._raise_not_undone(
    p_load omd_facts.load_log,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_not_undone$
BEGIN
    PERFORM omd.raise_error(
        'OM153',
        jsonb_build_object('module_instance_id', p_load.module_instance_id, 'problem', p_problem)
    );
END
$raise_not_undone$;

COMMENT ON FUNCTION omd_facts._raise_not_undone IS
'Raises OM153: p_load can''t be undone, because of p_problem. Locks: none.';
