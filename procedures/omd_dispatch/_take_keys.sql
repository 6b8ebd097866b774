-- The keys are taken in their order, so that two calls can't wait for each other. Who creates or
-- ends a task with one of them is waited for.

CREATE OR REPLACE FUNCTION omd_dispatch._take_keys(
    p_family_code text,
    p_tasks jsonb
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $take_keys$
DECLARE
    v_without bigint[];
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code AND m.is_key
    ) THEN
        RETURN '{}'::bigint[];
    END IF;
    EXECUTE format(
        $sql$
        WITH keyed AS MATERIALIZED (
            SELECT t.task_id, t.task_type, t.key_hash, %1$s AS criteria
            FROM jsonb_to_recordset($1) AS p (partition_code integer, task_ids bigint[])
            CROSS JOIN LATERAL unnest(p.task_ids) AS i (task_id)
            INNER JOIN %2$s AS t
                ON i.task_id = t.task_id AND p.partition_code = t.partition_code
            WHERE t.key_hash IS NOT NULL
        ),
        taken AS (
            INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)
            SELECT c.key_hash, %3$L, c.task_type, %4$s, c.task_id
            FROM keyed AS c
            INNER JOIN LATERAL (
                SELECT y.task_type, omd_dispatch._key_criteria(%3$L, y.task_type) AS criteria
                FROM omd_dispatch.task_conf_type_desc AS y
                WHERE y.family_code = %3$L
            ) AS k ON c.task_type = k.task_type
            ORDER BY c.key_hash, c.task_id
            ON CONFLICT (key_hash) DO NOTHING
            RETURNING task_id
        )
        SELECT array_agg(k.task_id) FROM keyed AS k
        WHERE NOT EXISTS (SELECT FROM taken AS t WHERE t.task_id = k.task_id)
        $sql$,
        omd_dispatch._criteria_sql(p_family_code, TRUE),
        omd_dispatch._data_table(p_family_code),
        p_family_code,
        omd_dispatch._key_sql(p_family_code, 'c.task_type', 'k.criteria')
    )
    INTO v_without
    USING p_tasks;
    RETURN coalesce(v_without, '{}'::bigint[]);
END
$take_keys$;

COMMENT ON FUNCTION omd_dispatch._take_keys IS
'Takes the keys of tasks of p_family_code, which the caller has locked, and returns those whose '
'key another task has. p_tasks: an array of {"partition_code", "task_ids"}. Locks: the keys; it '
'waits for those who create or end a task with one of them.';
REVOKE ALL ON FUNCTION omd_dispatch._take_keys FROM PUBLIC;
