-- People name what they mean, the facts of an entity; what a block of them is read from follows.

CREATE OR REPLACE FUNCTION omd_facts.changes_view(
    p_table_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $changes_view$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_table_code);
    v_interface_code CONSTANT text := regexp_replace(v_name[1], '^(gdal|asof|history|changes)_', '');
BEGIN
    PERFORM FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE i.interface_code = v_interface_code
        AND e.entity_code = v_name[2]
        AND e.keeps_changes;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM254',
            jsonb_build_object('interface_code', v_interface_code, 'object', v_name[2])
        );
    END IF;
    RETURN format('%I.%I', 'changes_' || v_interface_code, v_name[2]);
END
$changes_view$;

COMMENT ON FUNCTION omd_facts.changes_view IS
'For rooms: Returns the view of changes of the entity that the view p_table_code shows. Errors: '
'OM254: no changes of it are kept. Locks: none.';
