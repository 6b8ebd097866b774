-- As with the other views, the comment has a checksum of our text.

CREATE OR REPLACE FUNCTION omd_facts._changes_statements(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $changes_statements$
DECLARE
    v_entity record;
    v_name text;
    v_comment text;
    v_query text;
BEGIN
    FOR v_entity IN
        SELECT e.entity_id, e.entity_code, e.keeps_changes, i.interface_code
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        WHERE e.interface_id = p_interface_id
        ORDER BY e.entity_id
    LOOP
        v_name := format('%I.%I', 'changes_' || v_entity.interface_code, v_entity.entity_code);
        IF NOT v_entity.keeps_changes THEN
            IF to_regclass(v_name) IS NOT NULL THEN
                RETURN NEXT format('DROP VIEW %s', v_name);
            END IF;
            CONTINUE;
        END IF;
        v_query := omd_facts._changes_sql(v_entity.entity_id);
        v_comment := format(
            'Changes of the entity %s, in the block that omd_facts.show_changes shows. Generated: %s.',
            v_entity.entity_code, md5(v_query)
        );
        CONTINUE WHEN obj_description(to_regclass(v_name), 'pg_class') = v_comment;
        RETURN NEXT format(E'CREATE OR REPLACE VIEW %s AS\n%s', v_name, v_query);
        RETURN NEXT format('COMMENT ON VIEW %s IS %L', v_name, v_comment);
        IF to_regclass(v_name) IS NULL THEN
            RETURN NEXT format('GRANT SELECT ON %s TO omd_data_reader', v_name);
        END IF;
    END LOOP;
END
$changes_statements$;

COMMENT ON FUNCTION omd_facts._changes_statements IS
'Returns the statements that bring the views of changes of the interface p_interface_id to its '
'mapping. Locks: none.';
