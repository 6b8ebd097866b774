-- A task that another suspension holds too goes to that one, so that no resume lets it run early.
-- One that is locked is not waited for: _maintain_suspensions finds it when its suspension is gone.

CREATE OR REPLACE FUNCTION omd_dispatch._release_held_tasks(
    p_family_code text,
    p_suspension_id bigint,
    p_limit integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $release_held_tasks$
DECLARE
    v_rows bigint;
    v_free bigint;
BEGIN
    PERFORM omd_dispatch._hold_model(p_family_code);
    LOOP
        BEGIN
            EXECUTE format(
                $sql$
                WITH held AS MATERIALIZED (
                    SELECT t.task_id, %3$s AS partition_code
                    FROM %1$s AS t
                    WHERE t.suspension_id = $1
                    ORDER BY t.execution_time
                    LIMIT $2
                    FOR UPDATE SKIP LOCKED
                ),
                released AS (
                    UPDATE %1$s AS t SET suspension_id = %2$s
                    FROM held AS h
                    WHERE t.task_id = h.task_id AND %3$s = h.partition_code
                    RETURNING t.suspension_id
                )
                SELECT count(*), count(*) FILTER (WHERE suspension_id IS NULL) FROM released
                $sql$,
                omd_dispatch._model_table(p_family_code),
                -- The others are asked only where there are any.
                CASE
                    WHEN EXISTS (
                        SELECT FROM omd_dispatch.task_suspension AS s
                        WHERE s.family_code = p_family_code AND s.resumed_at IS NULL
                    )
                        THEN format(
                            'omd_dispatch._matching_suspension($3, t.task_type, %s)',
                            omd_dispatch._criteria_sql(p_family_code)
                        )
                    ELSE 'NULL'
                END,
                omd_dispatch._partition_sql(p_family_code)
            )
            INTO v_rows, v_free
            USING p_suspension_id, p_limit, p_family_code;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                -- A purge has moved a task.
                NULL;
        END;
    END LOOP;
    IF v_rows < p_limit THEN
        DELETE FROM omd_dispatch.task_suspension AS s WHERE s.suspension_id = p_suspension_id;
    END IF;
    IF v_free > 0 THEN
        PERFORM omd_dispatch._tell_due(g.deliver_id)
        FROM (
            SELECT DISTINCT t.deliver_id FROM omd_dispatch.task_conf_type_desc AS t
            WHERE t.family_code = p_family_code
        ) AS g;
    END IF;
    RETURN v_free;
END
$release_held_tasks$;

COMMENT ON FUNCTION omd_dispatch._release_held_tasks IS
'Lets up to p_limit tasks of p_family_code go that the resumed suspension p_suspension_id holds, '
'to another suspension that holds them too or free, and returns how many are free. The suspension '
'goes with its last task. Locks: the tasks; locked ones are passed over.';
