-- The keys are taken in their order, so that two calls can't wait for each other. Who creates or
-- ends a task with one of them is waited for. The criteria of the keys are looked up once for each
-- type, and not for each task; each partition is probed for its own tasks, since a join would read
-- the whole table.

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
        WITH type AS MATERIALIZED (
            SELECT y.task_type, omd_dispatch._key_criteria(%3$L, y.task_type) AS criteria
            FROM omd_dispatch.task_conf_type_desc AS y
            WHERE y.family_code = %3$L
        ),
        keyed AS MATERIALIZED (
            %2$s
        ),
        taken AS (
            INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)
            SELECT c.key_hash, %3$L, c.task_type, %1$s, c.task_id
            FROM keyed AS c
            INNER JOIN type AS k ON c.task_type = k.task_type
            ORDER BY c.key_hash, c.task_id
            ON CONFLICT (key_hash) DO NOTHING
            RETURNING task_id
        )
        SELECT array_agg(k.task_id) FROM keyed AS k
        WHERE NOT EXISTS (SELECT FROM taken AS t WHERE t.task_id = k.task_id)
        $sql$,
        omd_dispatch._key_sql(p_family_code, 'c.task_type', 'k.criteria'),
        (
            SELECT string_agg(
                format(
                    'SELECT t.task_id, t.task_type, t.key_hash, %s AS criteria FROM %s AS t'
                    ' WHERE t.partition_code = %s AND t.task_id = ANY(%L)'
                    ' AND t.key_hash IS NOT NULL',
                    omd_dispatch._criteria_sql(p_family_code, TRUE),
                    omd_dispatch._data_table(p_family_code),
                    p.partition_code,
                    p.task_ids
                ),
                ' UNION ALL '
            )
            FROM jsonb_to_recordset(p_tasks) AS p (partition_code integer, task_ids bigint[])
        ),
        p_family_code
    )
    INTO v_without;
    RETURN coalesce(v_without, '{}'::bigint[]);
END
$take_keys$;

COMMENT ON FUNCTION omd_dispatch._take_keys IS
'Takes the keys of tasks of p_family_code, which the caller has locked, and returns those whose '
'key another task has. p_tasks: an array of {"partition_code", "task_ids"}. Locks: the keys; it '
'waits for those who create or end a task with one of them.';
