-- Of facts and of topics whose views were parsed each column is known. Of another view only what it
-- names is known, and that is said of the table as a whole: never a guess. What entity runs of a
-- delivery read depends on its agreement, so omd_event._open_lineage adds it.

CREATE OR REPLACE FUNCTION omd_event._column_lineage(
    p_module_array integer[]
)
RETURNS TABLE (
    module_id integer,
    table_code text,
    fields jsonb,
    used jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $column_lineage$
BEGIN
    RETURN QUERY
    SELECT
        f.module_id,
        f.entity_table,
        (
            SELECT
                jsonb_object_agg(
                    a.code,
                    jsonb_build_array(
                        jsonb_build_object(
                            'table', f.source_table, 'column', a.code, 'subtype', 'IDENTITY'
                        )
                    )
                )
            FROM unnest(f.attribute_codes) AS a (code)
        ),
        NULL::jsonb
    FROM omd_facts.described_entities(p_module_array) AS f;

    RETURN QUERY
    WITH view_of AS (
        SELECT
            t.module_id,
            m.table_code,
            c.oid AS relation,
            v.fields
        FROM omd_lineage.described_topic AS t
        INNER JOIN omd.described_module AS m ON t.module_id = m.module_id
        CROSS JOIN LATERAL unnest(t.transforms) AS n (name)
        INNER JOIN pg_class AS c
            ON c.oid = CASE
                WHEN omd.spell_table(n.name) IS NOT NULL THEN omd.target_relation(n.name)
            END
        LEFT JOIN omd_event.view_columns AS v
            ON v.view_code = omd.spell_table(n.name) AND v.view_text = pg_get_viewdef(c.oid)
        WHERE t.module_id = ANY(p_module_array) AND c.relkind IN ('v', 'm')
    ),

    field AS (
        SELECT
            w.module_id,
            f.key AS column_name,
            jsonb_agg(i.item ORDER BY i.item) AS items
        FROM view_of AS w
        CROSS JOIN LATERAL jsonb_each(w.fields) AS f
        CROSS JOIN LATERAL jsonb_array_elements(f.value) AS i (item)
        GROUP BY w.module_id, f.key
    ),

    used_column AS (
        SELECT DISTINCT
            w.module_id,
            r.table_code,
            r.column_name
        FROM view_of AS w
        CROSS JOIN LATERAL omd_event._view_reads(w.relation) AS r
        WHERE NOT EXISTS (
            SELECT
            FROM jsonb_each(w.fields) AS f
            WHERE f.value @> jsonb_build_array(
                jsonb_build_object('table', r.table_code, 'column', r.column_name)
            )
        )
    )

    SELECT DISTINCT
        w.module_id,
        w.table_code,
        coalesce(
            (
                SELECT jsonb_object_agg(f.column_name, f.items)
                FROM field AS f
                WHERE f.module_id = w.module_id
            ),
            '{}'
        ),
        (
            SELECT
                jsonb_agg(
                    jsonb_build_object('table', u.table_code, 'column', u.column_name)
                    ORDER BY u.table_code, u.column_name
                )
            FROM used_column AS u
            WHERE u.module_id = w.module_id
        )
    FROM view_of AS w;
END
$column_lineage$;

COMMENT ON FUNCTION omd_event._column_lineage IS
'Returns of the Modules p_module_array that are topics or loads of facts from which columns those '
'of the table come: fields has of each column a list of objects with table, column and subtype; '
'used has those on which all rows may depend (NULL: none). Locks: none.';
