-- A batch of events is about few tables, so each is looked at once. Its key says what it is: P a
-- table of this database, L one of the lake, S one of Spark whose place nobody knows, U a folder.
-- Of what a run has read only the name is known (?): then the database is asked first.

CREATE OR REPLACE FUNCTION omd_event._datasets(
    p_keys text[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $datasets$
DECLARE
    v_namespace CONSTANT text := omd_event._dataset_namespace();
    v_places jsonb;
BEGIN
    SELECT jsonb_object_agg(d.table_code, d.location) INTO v_places
    FROM omd_lake.described_tables(
        ARRAY(
            SELECT DISTINCT substr(k.key, 2)
            FROM unnest(p_keys) AS k (key)
            WHERE left(k.key, 1) IN ('L', '?')
        )
    ) AS d
    WHERE d.location IS NOT NULL;
    RETURN (
        SELECT jsonb_object_agg(t.key, t.dataset)
        FROM (
            SELECT
                k.key,
                CASE
                    WHEN k.kind = 'U' THEN omd_event._dataset_of_uri(k.table_code)
                    WHEN k.kind = 'L' AND v_places ? k.table_code
                        THEN omd_event._dataset_of_uri(v_places ->> k.table_code)
                            || jsonb_build_object(
                                'facets',
                                jsonb_build_object(
                                    'symlinks',
                                    omd_event._facet(
                                        'SymlinksDatasetFacet',
                                        '1-0-1',
                                        jsonb_build_object(
                                            'identifiers',
                                            jsonb_build_array(
                                                jsonb_build_object(
                                                    'namespace', v_namespace,
                                                    'name', k.name,
                                                    'type', 'TABLE'
                                                )
                                            )
                                        )
                                    )
                                )
                            )
                    WHEN k.kind IN ('L', 'S')
                        THEN jsonb_build_object('namespace', v_namespace, 'name', k.name)
                    ELSE
                        jsonb_strip_nulls(
                            jsonb_build_object(
                                'namespace', v_namespace,
                                'name', current_database() || '.' || k.name,
                                'facets', f.facets
                            )
                        )
                END AS dataset
            FROM (
                SELECT
                    g.key,
                    g.table_code,
                    g.relation,
                    coalesce(array_to_string(g.parts, '.'), g.table_code) AS name,
                    CASE
                        WHEN g.table_code ~ '^[A-Za-z][A-Za-z0-9+.-]*:/|^/' THEN 'U'
                        WHEN left(g.key, 1) <> '?' THEN left(g.key, 1)
                        WHEN g.relation IS NOT NULL THEN 'P'
                        ELSE coalesce(
                            (
                                SELECT
                                    min(
                                        CASE
                                            WHEN m.table_format_code IN ('ICEBERG', 'DELTA') THEN 'L'
                                            WHEN m.platform_code = 'SPARK' THEN 'S'
                                            ELSE 'P'
                                        END
                                    )
                                FROM omd.described_module AS m
                                WHERE m.table_code = g.table_code
                            ),
                            CASE WHEN v_places ? g.table_code THEN 'L' ELSE 'P' END
                        )
                    END AS kind
                FROM (
                    SELECT
                        n.key,
                        n.table_code,
                        CASE WHEN n.is_name THEN parse_ident(n.table_code) END AS parts,
                        CASE
                            WHEN n.is_name AND left(n.key, 1) IN ('P', '?')
                                THEN omd.target_relation(n.table_code)
                        END AS relation
                    FROM (
                        SELECT
                            u.key,
                            substr(u.key, 2) AS table_code,
                            omd.spell_table(substr(u.key, 2)) IS NOT NULL AS is_name
                        FROM unnest(p_keys) AS u (key)
                    ) AS n
                ) AS g
            ) AS k
            LEFT JOIN LATERAL (
                SELECT
                    jsonb_build_object(
                        'schema',
                        omd_event._facet(
                            'SchemaDatasetFacet',
                            '1-2-0',
                            jsonb_build_object(
                                'fields',
                                jsonb_agg(
                                    jsonb_build_object(
                                        'name', a.attname,
                                        'type', format_type(a.atttypid, a.atttypmod)
                                    )
                                    ORDER BY a.attnum
                                )
                            )
                        )
                    ) AS facets
                FROM pg_attribute AS a
                WHERE a.attrelid = k.relation AND a.attnum > 0 AND NOT a.attisdropped
                HAVING count(*) > 0
            ) AS f ON k.kind = 'P'
        ) AS t
    );
END
$datasets$;

COMMENT ON FUNCTION omd_event._datasets IS
'Returns an object that has for each of p_keys (a letter that says what it is, and its name) the '
'dataset of OpenLineage: namespace, name, and the facets that hold whatever the run. Locks: none.';
