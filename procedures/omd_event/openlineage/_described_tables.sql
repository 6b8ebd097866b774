-- What is said of a table that a Module writes is made once for all its runs; an entity run of a
-- delivery has its own, since the columns come from the staging table of its agreement.

CREATE OR REPLACE FUNCTION omd_event._described_tables(
    p_module_array integer[],
    p_tables jsonb,
    p_staged jsonb,
    OUT p_datasets jsonb,
    OUT p_outputs jsonb
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $described_tables$
DECLARE
    v_columns jsonb;
    -- An array is looked up in the index; a join with what JSON holds would read the whole table.
    v_instances CONSTANT bigint[] := ARRAY(
        SELECT DISTINCT split_part(t.name, ' ', 1)::bigint
        FROM jsonb_object_keys(p_tables) AS t (name)
    );
BEGIN
    SELECT
        coalesce(
            jsonb_object_agg(
                concat_ws(' ', c.module_id, omd.spell_table(c.table_code)),
                jsonb_build_object('fields', c.fields, 'used', c.used)
            ),
            '{}'
        )
    INTO v_columns
    FROM omd_event._column_lineage(p_module_array) AS c;
    p_datasets := omd_event._datasets(
        ARRAY(
            SELECT k.key
            FROM jsonb_each(p_tables) AS t
            CROSS JOIN LATERAL jsonb_array_elements_text(t.value) AS k (key)
            UNION
            SELECT '?' || (i.item ->> 'table')
            FROM jsonb_each(v_columns) AS c
            CROSS JOIN LATERAL jsonb_each(nullif(c.value -> 'fields', 'null')) AS f
            CROSS JOIN LATERAL jsonb_array_elements(f.value) AS i (item)
            UNION
            SELECT '?' || (u.item ->> 'table')
            FROM jsonb_each(v_columns) AS c
            CROSS JOIN LATERAL jsonb_array_elements(nullif(c.value -> 'used', 'null')) AS u (item)
            UNION
            SELECT '?' || (s.value ->> 'table')
            FROM jsonb_each(p_staged) AS s
        )
    );
    SELECT
        coalesce(
            jsonb_object_agg(
                concat_ws(' ', o.module_id, o.key),
                d.dataset
                || CASE
                    WHEN c.columns IS NULL THEN '{}'
                    ELSE
                        jsonb_build_object(
                            'facets',
                            coalesce(d.dataset -> 'facets', '{}')
                            || jsonb_build_object(
                                'columnLineage',
                                omd_event._column_facet(
                                    c.columns -> 'fields', c.columns -> 'used', p_datasets
                                )
                            )
                        )
                END
            ),
            '{}'
        )
        || coalesce(
            jsonb_object_agg(
                concat_ws(' ', o.module_id, o.key, 'done'),
                omd_event._output_facets(m.area_code = 'STG', p.processor = 'RELOAD', NULL)
            ) FILTER (WHERE m.area_code = 'STG' OR p.processor = 'RELOAD'),
            '{}'
        )
    INTO p_outputs
    FROM (
        SELECT DISTINCT
            mi.module_id,
            k.key
        FROM omd.described_module_instance AS mi
        CROSS JOIN (VALUES (' t t'), (' f t')) AS t (name)
        CROSS JOIN LATERAL jsonb_array_elements_text(
            p_tables -> (mi.module_instance_id || t.name)
        ) AS k (key)
        WHERE mi.module_instance_id = ANY(v_instances)
    ) AS o
    INNER JOIN omd.described_module AS m ON o.module_id = m.module_id
    LEFT JOIN omd_lineage.described_topic AS p ON m.module_id = p.module_id
    CROSS JOIN LATERAL (SELECT p_datasets -> o.key AS dataset) AS d
    CROSS JOIN LATERAL (
        SELECT
            v_columns -> concat_ws(' ', m.module_id, omd.spell_table(substr(o.key, 2))) AS columns
    ) AS c;
    p_outputs := p_outputs || coalesce(
        (
            SELECT
                jsonb_object_agg(
                    concat_ws(' ', s.key, k.key),
                    (p_datasets -> k.key) || jsonb_build_object(
                        'facets',
                        coalesce(p_datasets -> k.key -> 'facets', '{}')
                        || jsonb_build_object(
                            'columnLineage',
                            omd_event._column_facet(s.value -> 'fields', NULL, p_datasets)
                        )
                    )
                )
            FROM jsonb_each(p_staged) AS s
            INNER JOIN jsonb_each(p_tables) AS t
                ON t.key IN (s.key || ' t t', s.key || ' f t')
            CROSS JOIN LATERAL jsonb_array_elements_text(t.value) AS k (key)
        ),
        '{}'
    );
END
$described_tables$;

COMMENT ON FUNCTION omd_event._described_tables IS
'Returns the datasets of all keys of p_tables (by run, whether it is the end, and whether it is an '
'output), and those of outputs with their columns: by Module and key, and by run and key where '
'p_staged has the run. What is said of the latter when a run has succeeded has " done" behind its '
'name. Locks: none.';
