-- The way up is short, and a batch of events shares it.

CREATE OR REPLACE FUNCTION omd_event._callers(
    p_batch_array bigint[]
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $callers$
DECLARE
    v_installation_id CONSTANT uuid := omd.installation_id();
    v_namespace CONSTANT text := omd_event._job_namespace();
BEGIN
    RETURN (
        WITH RECURSIVE up AS (
            SELECT
                b.batch_instance_id AS origin_id,
                b.batch_instance_id,
                b.parent_batch_instance_id,
                b.batch_code,
                b.start_datetime,
                b.execution_context,
                0 AS distance
            FROM omd.described_batch_instance AS b
            WHERE b.batch_instance_id = ANY(p_batch_array)
            UNION ALL
            SELECT
                u.origin_id,
                b.batch_instance_id,
                b.parent_batch_instance_id,
                b.batch_code,
                b.start_datetime,
                b.execution_context,
                u.distance + 1
            FROM up AS u
            INNER JOIN omd.described_batch_instance AS b
                ON u.parent_batch_instance_id = b.batch_instance_id
            WHERE u.distance < 1000
        ),

        named AS (
            SELECT
                u.origin_id,
                u.distance,
                jsonb_build_object(
                    'run',
                    jsonb_build_object(
                        'runId',
                        omd_event._run_uuid(
                            v_installation_id, 'BATCH', u.batch_instance_id, u.start_datetime
                        )
                    ),
                    'job',
                    jsonb_build_object(
                        'namespace', v_namespace,
                        'name', omd_event._job_name('BATCH', u.batch_code)
                    )
                ) AS run,
                coalesce(
                    omd_event._context_parent(u.execution_context, 'openlineage_root_parent_id'),
                    omd_event._context_parent(u.execution_context, 'openlineage_parent_id')
                ) AS called_by
            FROM up AS u
        )

        SELECT jsonb_object_agg(n.origin_id, n.caller)
        FROM (
            SELECT
                d.origin_id,
                jsonb_build_object(
                    'run', (array_agg(d.run ORDER BY d.distance))[1],
                    'top', (array_agg(d.run ORDER BY d.distance DESC))[1],
                    'called_by', (array_agg(d.called_by ORDER BY d.distance DESC))[1]
                ) AS caller
            FROM named AS d
            GROUP BY d.origin_id
        ) AS n
    );
END
$callers$;

COMMENT ON FUNCTION omd_event._callers IS
'Returns an object that has for each of the Batch Instances p_batch_array how OpenLineage names '
'it: run, the topmost one above it: top, and what the execution context of that says of the '
'program that called it: called_by, null where it says nothing. Locks: none.';
