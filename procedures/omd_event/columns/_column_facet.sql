-- A table that is named often is described once, so here it is only looked up.

CREATE OR REPLACE FUNCTION omd_event._column_facet(
    p_fields jsonb,
    p_used jsonb,
    p_datasets jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $column_facet$
BEGIN
    RETURN omd_event._facet(
        'ColumnLineageDatasetFacet',
        '1-2-0',
        jsonb_build_object(
            'fields',
            (
                SELECT
                    coalesce(
                        jsonb_object_agg(
                            f.key,
                            jsonb_build_object(
                                'inputFields',
                                (
                                    SELECT
                                        coalesce(
                                            jsonb_agg(
                                                (d.dataset - 'facets')
                                                || jsonb_build_object(
                                                    'field', i.item ->> 'column',
                                                    'transformations',
                                                    jsonb_build_array(
                                                        jsonb_build_object(
                                                            'type', 'DIRECT',
                                                            'subtype', i.item ->> 'subtype'
                                                        )
                                                    )
                                                )
                                                ORDER BY i.item
                                            ),
                                            '[]'
                                        )
                                    FROM jsonb_array_elements(f.value) AS i (item)
                                    CROSS JOIN LATERAL (
                                        SELECT p_datasets -> ('?' || (i.item ->> 'table')) AS dataset
                                    ) AS d
                                )
                            )
                        ),
                        '{}'
                    )
                FROM jsonb_each(nullif(p_fields, 'null')) AS f
            )
        )
        || CASE
            WHEN coalesce(jsonb_typeof(p_used), 'null') = 'null' THEN '{}'
            ELSE
                jsonb_build_object(
                    'dataset',
                    (
                        SELECT
                            jsonb_agg(
                                ((p_datasets -> ('?' || (u.item ->> 'table'))) - 'facets')
                                || jsonb_build_object('field', u.item ->> 'column')
                                ORDER BY u.item
                            )
                        FROM jsonb_array_elements(p_used) AS u (item)
                    )
                )
        END
    );
END
$column_facet$;

COMMENT ON FUNCTION omd_event._column_facet IS
'Returns the facet columnLineage. p_fields and p_used: as omd_event._column_lineage has them, '
'NULL, also that of JSON, for none. p_datasets: the datasets of their tables, as '
'omd_event._datasets has them. Locks: none.';
