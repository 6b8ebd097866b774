-- What others have made of the entity, step by step, without what is registered.

CREATE OR REPLACE FUNCTION omd_provenance._not_reached(
    p_subject jsonb,
    p_reached text[]
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $not_reached$
DECLARE
    v_relations text[];
    v_next text[];
    v_made text[] := '{}'::text[];
BEGIN
    SELECT array_agg(DISTINCT o.name) INTO v_relations
    FROM (
        SELECT unnest(h.relations || h.table_code) AS name
        FROM omd_provenance._holders(p_subject) AS h
        UNION ALL
        SELECT p.prefix || (p_subject ->> 'interface') || '.' || t.entity
        FROM jsonb_to_recordset(p_subject -> 'targets') AS t (entity text)
        CROSS JOIN (VALUES ('lvl_'), ('gdal_'), ('history_'), ('changes_')) AS p (prefix)
    ) AS o;
    LOOP
        SELECT array_agg(DISTINCT m.name) INTO v_next
        FROM (
            SELECT t.table_code AS name
            FROM omd_provenance.modules_reading(v_relations) AS r
            INNER JOIN omd.module_target AS t USING (module_id)
            WHERE t.table_code IS NOT NULL
            UNION ALL
            SELECT t.table_code
            FROM omd_decision.outputs_of(
                jsonb_build_array(
                    jsonb_build_object('relations', v_relations, 'columns', '{}'::jsonb)
                )
            ) AS t
        ) AS m
        LEFT JOIN pg_class AS c ON c.oid = omd.target_relation(m.name)
        WHERE m.name <> ALL(v_made || v_relations)
            -- Deliveries and facts write into layers of interfaces.
            AND pg_get_userbyid(c.relowner) IS DISTINCT FROM 'omd_owner';
        EXIT WHEN v_next IS NULL;
        v_made := v_made || v_next;
        SELECT array_agg(DISTINCT r.name) INTO v_relations
        FROM (
            SELECT n.name FROM unnest(v_next) AS n (name)
            UNION ALL
            SELECT unnest(omd.relations_over(n.name))
            FROM unnest(v_next) AS n (name)
            WHERE omd.target_relation(n.name) IS NOT NULL
        ) AS r (name);
    END LOOP;
    RETURN QUERY
    SELECT DISTINCT f.name FROM unnest(v_made) AS f (name)
    WHERE f.name <> ALL(p_reached)
    ORDER BY f.name;
END
$not_reached$;

COMMENT ON FUNCTION omd_provenance._not_reached IS
'Returns the tables that Modules, topics and stages make of the entities of p_subject, as far as '
'it is known what they read, without p_reached. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._not_reached TO omd_admin;
