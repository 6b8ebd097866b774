-- The tables are brought to the registry, whatever they were before. Every name in the statements
-- is a code of the registry or made of one, and goes through %I.

CREATE OR REPLACE PROCEDURE omd_delivery._make_interface(
    p_interface_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_interface$
DECLARE
    v_interface omd_delivery.interface;
    v_entity record;
    v_module_id integer;
BEGIN
    SELECT i.* INTO v_interface
    FROM omd_delivery.interface AS i
    WHERE i.interface_id = p_interface_id;
    CALL omd_delivery._make_schema(
        v_interface.lvl_schema,
        format('The Logical Validation Layer of the interface %s.', v_interface.interface_code)
    );
    CALL omd_delivery._make_schema(
        v_interface.work_schema,
        format('The work tables of the interface %s.', v_interface.interface_code)
    );
    FOR v_entity IN
        SELECT e.* FROM omd_delivery.entity AS e
        WHERE e.interface_id = p_interface_id
        ORDER BY e.ordinal
    LOOP
        CALL omd_delivery._make_tables(v_entity.entity_id);
        CALL omd_delivery._make_indexes(v_entity.entity_id);
        IF v_entity.module_id IS NULL THEN
            CALL omd.save_module(
                p_module_code => format(
                    'lvl.%s.%s', v_interface.interface_code, v_entity.entity_code
                ),
                p_area_code => 'HSTG',
                p_table_code => format('%I.%I', v_interface.lvl_schema, v_entity.entity_code),
                p_platform_code => 'POSTGRES',
                p_insert_instance_column => 'acm_audit_id',
                p_module_description => format(
                    'Updates of the entity %s of the interface %s',
                    v_entity.entity_code, v_interface.interface_code
                ),
                p_module_id => v_module_id
            );
            PERFORM omd.set_module_kind(v_module_id, 'PART');
            UPDATE omd_delivery.entity AS e
            SET module_id = v_module_id
            WHERE e.entity_id = v_entity.entity_id;
        END IF;
    END LOOP;
    PERFORM omd_delivery._save_delivery_inputs(p_interface_id);
END
$make_interface$;

COMMENT ON PROCEDURE omd_delivery._make_interface IS
'Brings the schemas, tables, indexes and Modules of the interface p_interface_id to the registry. '
'Errors: OM233: a schema belongs to somebody else; OM234: omd_owner may not create it. Locks: the '
'tables that change, the Modules of the entities.';
