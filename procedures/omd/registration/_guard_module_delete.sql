-- A Module that has run stays, since its instances refer to it. This trigger replaces a foreign key
-- on omd.module_instance, which every run would pay for.

CREATE OR REPLACE FUNCTION omd._guard_module_delete()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guard_module_delete$
DECLARE
    v_instance_id bigint;
BEGIN
    SELECT mi.module_instance_id INTO v_instance_id
    FROM omd.module_instance AS mi
    WHERE mi.module_id = old.module_id
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM106',
            jsonb_build_object(
                'table', 'module',
                'instance_type', 'Module Instance',
                'instance_id', v_instance_id,
                'problem', format(
                    'its Module "%s" stays; to retire it, CALL omd.retire_module(%L);',
                    old.module_code,
                    old.module_code
                )
            )
        );
    END IF;
    RETURN old;
END
$guard_module_delete$;

COMMENT ON FUNCTION omd._guard_module_delete IS
'Trigger: refuses to delete a Module that has instances. Errors: OM106.';
