-- The staging tables are those of the agreement, so each run has its own.

CREATE OR REPLACE FUNCTION omd_event._staged(
    p_instance_array bigint[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $staged$
BEGIN
    RETURN (
        SELECT
            coalesce(
                jsonb_object_agg(
                    d.module_instance_id,
                    jsonb_build_object(
                        'time', d.snapshot_datetime,
                        'table', d.staged_table,
                        'key', 'P' || d.staged_table,
                        'checks',
                        CASE
                            WHEN d.checks IS NULL THEN '{}'
                            ELSE
                                jsonb_build_object(
                                    'inputFacets',
                                    jsonb_build_object(
                                        'dataQualityAssertions', omd_event._assertions(d.checks)
                                    )
                                )
                        END,
                        'fields',
                        (
                            SELECT
                                jsonb_object_agg(
                                    c.key,
                                    jsonb_build_array(
                                        jsonb_build_object(
                                            'table', d.staged_table,
                                            'column', c.value,
                                            'subtype', 'IDENTITY'
                                        )
                                    )
                                )
                            FROM jsonb_each_text(d.staged_columns) AS c
                        )
                    )
                ),
                '{}'
            )
        FROM omd_delivery.described_runs(p_instance_array) AS d
    );
END
$staged$;

COMMENT ON FUNCTION omd_event._staged IS
'Returns an object that has for each entity run of a delivery among p_instance_array its time, its '
'staging table, the key of that, its checks as facets of an input, and fields as '
'omd_event._column_lineage has them. Locks: none.';
