-- Only the types of groups without a worker are looked for, and of a family at most 10,000 tasks,
-- by the index of those that may be claimed.

CREATE OR REPLACE FUNCTION omd_dispatch._unserved_types()
RETURNS TABLE (
    family_code text,
    task_type text,
    deliver_id text,
    oldest_due timestamptz
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $unserved_types$
DECLARE
    v_most CONSTANT integer := 10000;
    v_family record;
BEGIN
    FOR v_family IN
        SELECT
            d.family_code,
            array_agg(d.task_type) AS task_types
        FROM omd_dispatch.task_conf_type_desc AS d
        WHERE NOT EXISTS (
            SELECT FROM omd_dispatch.backend_registration AS b
            WHERE b.backend_type = d.deliver_id
                AND omd_dispatch._lives(b.registration_time, b.ttl, statement_timestamp())
        )
        GROUP BY d.family_code
        ORDER BY d.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            $sql$
            SELECT $1, t.task_type, d.deliver_id, min(t.execution_time)
            FROM (
                SELECT t.task_type, t.execution_time, %s AS is_held
                FROM %s AS t
                WHERE t.status = 'PENDING'
                    AND t.suspension_id IS NULL
                    AND t.task_type = ANY ($2)
                    AND t.execution_time <= statement_timestamp()
                LIMIT $3
            ) AS t
            INNER JOIN omd_dispatch.task_conf_type_desc AS d
                ON d.family_code = $1 AND d.task_type = t.task_type
            WHERE NOT t.is_held
            GROUP BY t.task_type, d.deliver_id
            $sql$,
            omd_dispatch._held_sql(v_family.family_code),
            omd_dispatch._model_table(v_family.family_code)
        ) USING v_family.family_code, v_family.task_types, v_most;
    END LOOP;
END
$unserved_types$;

COMMENT ON FUNCTION omd_dispatch._unserved_types IS
'Returns each type of tasks of which some are due while no worker of their group lives, and since '
'when the first of those that were looked at is due. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._unserved_types TO omd_reader;
