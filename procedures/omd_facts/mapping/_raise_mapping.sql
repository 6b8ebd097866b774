-- Every problem of a mapping is reported alike.

CREATE OR REPLACE FUNCTION omd_facts._raise_mapping(
    p_registry jsonb,
    p_entity_code text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_mapping$
BEGIN
    PERFORM omd.raise_error(
        'OM250',
        jsonb_build_object(
            'interface_code', p_registry -> 'interface_code',
            'entity_code', p_entity_code,
            'problem', p_problem
        )
    );
END
$raise_mapping$;

COMMENT ON FUNCTION omd_facts._raise_mapping IS
'Raises OM250: the facts of the entity p_entity_code in p_registry say what can''t be. Locks: '
'none.';
