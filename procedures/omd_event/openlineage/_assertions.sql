-- Who may see all events may see how many rows violate a constraint, and none of these rows.

CREATE OR REPLACE FUNCTION omd_event._assertions(
    p_checks jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $assertions$
BEGIN
    RETURN (
        SELECT
            omd_event._facet(
                'DataQualityAssertionsDatasetFacet',
                '1-1-0',
                jsonb_build_object(
                    'assertions',
                    jsonb_agg(
                        jsonb_strip_nulls(
                            jsonb_build_object(
                                'assertion', c.item ->> 'type',
                                'name', c.item ->> 'constraint',
                                'column', c.item ->> 'column',
                                'success', c.item ->> 'violations' = '0',
                                'severity', CASE WHEN e.expected IS NULL THEN 'warn' ELSE 'error' END,
                                'expected', e.expected,
                                'actual', c.item ->> 'violations',
                                'content', c.item ->> 'content'
                            )
                        )
                        ORDER BY c.n
                    )
                )
            )
        FROM jsonb_array_elements(p_checks) WITH ORDINALITY AS c (item, n)
        CROSS JOIN LATERAL (
            SELECT
                nullif(
                    concat_ws(
                        ' or ', c.item ->> 'threshold', (c.item ->> 'threshold_percent') || ' %'
                    ),
                    ''
                ) AS expected
        ) AS e
        HAVING count(*) > 0
    );
END
$assertions$;

COMMENT ON FUNCTION omd_event._assertions IS
'Returns the facet dataQualityAssertions of the checks p_checks, as omd_delivery.described_runs '
'has them; NULL: there are none. Locks: none.';
