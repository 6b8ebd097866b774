-- It does to many tasks what revive_task does to one; a task whose key another one has stays dead.

CREATE OR REPLACE PROCEDURE omd_dispatch.revive_tasks(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_limit integer DEFAULT 10000,
    p_after_task_id bigint DEFAULT NULL,
    INOUT p_changed bigint DEFAULT NULL,
    INOUT p_passed bigint DEFAULT NULL,
    INOUT p_last_task_id bigint DEFAULT NULL,
    INOUT p_more boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $revive_tasks$
DECLARE
    v_family_code text := p_filter ->> 'family_code';
    v_dead jsonb;
    v_picked bigint;
    v_without bigint[];
    v_part record;
    v_statement text;
    v_rows bigint;
    v_types text[];
    v_revived text[] := '{}'::text[];
BEGIN
    SELECT
        jsonb_agg(p) FILTER (WHERE p.status = 'DEAD'),
        coalesce(sum(cardinality(p.task_ids)), 0)::bigint,
        max(m.task_id)
    INTO v_dead, v_picked, p_last_task_id
    FROM omd_dispatch._pick_tasks(p_filter, p_counted_at, p_limit, p_after_task_id) AS p
    CROSS JOIN LATERAL (SELECT max(i) AS task_id FROM unnest(p.task_ids) AS i) AS m;
    p_changed := 0::bigint;
    p_last_task_id := coalesce(p_last_task_id, p_after_task_id);
    p_more := v_picked = p_limit;
    IF v_dead IS NOT NULL THEN
        v_without := omd_dispatch._take_keys(v_family_code, v_dead);
        -- The suspensions are asked only where there are any.
        v_statement := format(
            $sql$
            WITH revived AS (
                UPDATE %1$s AS t SET
                    status = 'PENDING', attempt = 0, outcome = NULL, error = NULL,
                    batch_instance_id = NULL, module_instance_id = NULL, finished_at = NULL,
                    pending_since = clock_timestamp(), execution_time = clock_timestamp(),
                    lane = omd_dispatch._lane(y, %2$s), suspension_id = %4$s
                FROM omd_dispatch.task_conf_type_desc AS y
                WHERE t.partition_code = $2
                    AND t.task_id = ANY($1)
                    AND y.family_code = %3$L
                    AND y.task_type = t.task_type
                RETURNING t.task_type
            )
            SELECT count(*), array_agg(DISTINCT r.task_type) FROM revived AS r
            $sql$,
            omd_dispatch._data_table(v_family_code),
            omd_dispatch._criteria_sql(v_family_code, TRUE),
            v_family_code,
            CASE
                WHEN EXISTS (
                    SELECT FROM omd_dispatch.task_suspension AS s
                    WHERE s.family_code = v_family_code AND s.resumed_at IS NULL
                )
                    THEN format(
                        'omd_dispatch._matching_suspension(%L, t.task_type, %s)', v_family_code,
                        omd_dispatch._criteria_sql(v_family_code, TRUE)
                    )
                ELSE 'NULL'
            END
        );
        FOR v_part IN
            SELECT
                d.partition_code,
                ARRAY(
                    SELECT i FROM unnest(d.task_ids) AS i
                    WHERE NOT EXISTS (SELECT FROM unnest(v_without) AS w WHERE w = i)
                ) AS task_ids
            FROM jsonb_to_recordset(v_dead) AS d (partition_code integer, task_ids bigint[])
        LOOP
            EXECUTE v_statement
            INTO v_rows, v_types
            USING v_part.task_ids, v_part.partition_code;
            p_changed := p_changed + v_rows;
            v_revived := v_revived || v_types;
        END LOOP;
        PERFORM omd_dispatch._tell_due(g.deliver_id)
        FROM (
            SELECT DISTINCT y.deliver_id FROM omd_dispatch.task_conf_type_desc AS y
            WHERE y.family_code = v_family_code AND y.task_type = ANY(v_revived)
        ) AS g;
    END IF;
    p_passed := v_picked - p_changed;
    PERFORM omd_dispatch._note_bulk('REVIVED', p_filter, p_changed, p_passed);
END
$revive_tasks$;

COMMENT ON PROCEDURE omd_dispatch.revive_tasks IS
'Makes up to p_limit (1 to 1000000) dead tasks pending again, as revive_task does: those that '
'p_filter describes and p_counted_at lets pass, as count_tasks says, in the order of their ids. '
'p_after_task_id: only those after this one. What others hold it skips. Returns p_changed, how '
'many it has revived; p_passed, how many it has left as they are: another task has the key, or it '
'is not dead; p_last_task_id, the last task of both; p_more: there may be more. The same filter '
'goes on with the rest, from p_last_task_id on without what was passed over. One event tells of '
'the call. Errors: OM005: an argument is NULL; OM013: an argument is not allowed; OM014: the '
'isolation level is not read committed; OM070, OM071, OM075, OM078, OM099, OM173, 42501: p_filter, '
'as count_tasks says. Locks: the tasks; their keys, for which it waits. May be NULL: '
'p_last_task_id.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.revive_tasks TO omd_admin;
