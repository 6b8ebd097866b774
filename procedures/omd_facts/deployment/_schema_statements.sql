-- Each interface has schemas of its own, those that share anchors have two more, and nobody else's
-- is taken.

CREATE OR REPLACE FUNCTION omd_facts._schema_statements(
    p_interface_id integer
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $schema_statements$
DECLARE
    v_schema record;
BEGIN
    FOR v_schema IN
        SELECT
            s.name,
            s.comment,
            n.nspowner
        FROM (
            SELECT
                v.prefix || i.interface_code AS name,
                format('%s of the interface %s.', v.description, i.interface_code) AS comment
            FROM omd_facts.interface AS i
            CROSS JOIN (
                VALUES
                ('cfl_', 'Anchors and contexts'), ('gdal_', 'Current facts'),
                ('asof_', 'Facts as of one moment'), ('history_', 'History of the facts')
            ) AS v (prefix, description)
            WHERE i.interface_id = p_interface_id
            UNION ALL
            SELECT
                'changes_' || i.interface_code,
                format('Changes of the facts of the interface %s.', i.interface_code)
            FROM omd_facts.interface AS i
            WHERE i.interface_id = p_interface_id
                AND EXISTS (
                    SELECT FROM omd_facts.entity AS e
                    WHERE e.interface_id = p_interface_id AND e.keeps_changes
                )
            UNION ALL
            SELECT v.*
            FROM (
                VALUES
                ('cfl', 'Generalizations and key roots of all interfaces.'),
                ('gdal', 'Generalizations and key roots as views.')
            ) AS v
            WHERE EXISTS (
                SELECT FROM omd_facts.entity AS e
                WHERE e.interface_id = p_interface_id
                    AND num_nonnulls(e.generalization_code, e.key_root_code) > 0
            )
        ) AS s
        LEFT JOIN pg_namespace AS n ON s.name = n.nspname
    LOOP
        IF v_schema.nspowner <> 'omd_owner'::regrole THEN
            PERFORM omd.raise_error('OM233', jsonb_build_object('schema_name', v_schema.name));
        ELSIF v_schema.nspowner IS NULL THEN
            RETURN NEXT format('CREATE SCHEMA %I', v_schema.name);
            RETURN NEXT format('COMMENT ON SCHEMA %I IS %L', v_schema.name, v_schema.comment);
            RETURN NEXT format('GRANT USAGE ON SCHEMA %I TO omd_data_reader', v_schema.name);
        END IF;
    END LOOP;
END
$schema_statements$;

COMMENT ON FUNCTION omd_facts._schema_statements IS
'Returns the statements that make the schemas of the interface p_interface_id. Errors: OM233: '
'one belongs to somebody else. Locks: none.';
