-- A registered table may hold the key of an entity that depends on the person: then the columns
-- that name him find his rows. Views over a table show what it holds, if they have these columns.

CREATE OR REPLACE FUNCTION omd_provenance._holders(
    p_subject jsonb
)
RETURNS TABLE (table_code text, action text, columns jsonb, relations text[])
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $holders$
BEGIN
    RETURN QUERY
    WITH target AS (
        SELECT t.item ->> 'entity' AS entity, c.attribute, c.key_attribute, t.n
        FROM jsonb_array_elements(p_subject -> 'targets') WITH ORDINALITY AS t (item, n)
        CROSS JOIN LATERAL unnest(
            ARRAY(SELECT jsonb_array_elements_text(t.item -> 'columns')),
            ARRAY(SELECT jsonb_array_elements_text(p_subject -> 'key'))
        ) AS c (attribute, key_attribute)
    ),

    holder AS (
        SELECT s.table_code, s.action, jsonb_object_agg(c.name, t.key_attribute) AS columns
        FROM target AS t
        INNER JOIN omd_provenance.subject AS s
            ON s.interface_code = p_subject ->> 'interface' AND t.entity = s.entity_code
        CROSS JOIN LATERAL jsonb_each_text(s.columns) AS c (name, attribute)
        WHERE c.attribute = t.attribute
        GROUP BY s.table_code, s.action, t.n
        UNION ALL
        SELECT
            format('%I.%I', p.prefix || (p_subject ->> 'interface'), t.entity),
            NULL,
            jsonb_object_agg(t.attribute, t.key_attribute)
        FROM target AS t
        CROSS JOIN (
            VALUES ('lvl_'), ('gdal_'), ('asof_'), ('history_'), ('changes_')
        ) AS p (prefix)
        WHERE omd.target_relation(
            format('%I.%I', p.prefix || (p_subject ->> 'interface'), t.entity)
        ) IS NOT NULL
        GROUP BY p.prefix, t.entity, t.n
    )

    SELECT
        h.table_code,
        h.action,
        h.columns,
        CASE WHEN omd.target_relation(h.table_code) IS NOT NULL THEN
            ARRAY(
                SELECT r.name
                FROM unnest(omd.relations_over(h.table_code)) AS r (name)
                WHERE NOT EXISTS (
                    SELECT FROM jsonb_object_keys(h.columns) AS c (name)
                    WHERE NOT EXISTS (
                        SELECT FROM pg_attribute AS a
                        WHERE a.attrelid = omd.target_relation(r.name)
                            AND c.name = a.attname
                            AND NOT a.attisdropped
                    )
                )
            )
        END
    FROM holder AS h
    ORDER BY h.table_code, h.columns;
END
$holders$;

COMMENT ON FUNCTION omd_provenance._holders IS
'Returns the tables that hold keys of p_subject: registered ones with their action, and those of '
'its interface, NULL; the columns of each, {column: attribute of the key}, and it with all views '
'over it that have them. Locks: none.';
