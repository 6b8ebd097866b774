-- The copy is made in the transaction of the master, so that it survives a change of the master. A
-- copy that can't be made does not stop the work: it is recorded, and hinders the next step up.

CREATE OR REPLACE FUNCTION omd_dispatch._mirror_task()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $mirror_task$
DECLARE
    v_family_code text := tg_argv[0];
    v_status integer := omd_dispatch._migration_status(v_family_code);
    v_is_new_master boolean := tg_argv[1] = 'new';
    v_row jsonb := to_jsonb(CASE WHEN tg_op = 'INSERT' THEN new ELSE old END);
    v_task_id bigint := (v_row ->> 'task_id')::bigint;
    v_criteria jsonb;
    v_copy jsonb;
    v_kind text;
    v_detail text;
BEGIN
    BEGIN
        IF NOT v_is_new_master THEN
            EXECUTE format(
                'SELECT %s FROM (SELECT $1 AS task_id) AS t',
                omd_dispatch._criteria_sql(v_family_code, FALSE)
            )
            INTO v_criteria
            USING v_task_id;
        END IF;
        v_row := omd_dispatch._task_image(v_row, v_criteria);
        EXECUTE format(
            'SELECT omd_dispatch._task_image(to_jsonb(t), %s) FROM %s AS t WHERE t.task_id = $1',
            omd_dispatch._criteria_sql(v_family_code, NOT v_is_new_master),
            omd_dispatch._model_table(v_family_code, NOT v_is_new_master)
        )
        INTO v_copy
        USING v_task_id;
        v_kind := CASE
            WHEN tg_op = 'INSERT' AND v_copy <> v_row THEN 'EXTRA'
            WHEN tg_op <> 'INSERT' AND v_copy IS NULL THEN 'MISSING'
            WHEN tg_op <> 'INSERT' AND v_copy <> v_row THEN 'DIFFERENT'
        END;
        IF v_kind IS NOT NULL AND v_status >= 2 THEN
            v_detail := omd_dispatch._image_difference(v_row, v_copy);
            INSERT INTO omd_dispatch.task_migration_discrepancy (
                family_code, task_id, seen_at, kind, detail
            )
            VALUES (v_family_code, v_task_id, clock_timestamp(), v_kind, v_detail);
        END IF;
        PERFORM omd_dispatch._remove_copy(v_family_code, NOT v_is_new_master, v_task_id);
        PERFORM omd_dispatch._copy_tasks(v_family_code, NOT v_is_new_master, v_task_id);
    EXCEPTION
        WHEN assert_failure OR OTHERS THEN
            INSERT INTO omd_dispatch.task_migration_discrepancy (
                family_code, task_id, seen_at, kind, detail
            )
            VALUES (
                v_family_code, v_task_id, clock_timestamp(), 'FAILED',
                format('%s: %s', sqlstate, sqlerrm)
            );
    END;
    RETURN NULL;
END
$mirror_task$;

COMMENT ON FUNCTION omd_dispatch._mirror_task IS
'Trigger: keeps the other model in step with the master, one task at a time. From status 2 on it '
'records what differed before; a copy that fails is always recorded. Locks: the copy of the task.';
