-- A round takes what it finds first in the index of pending tasks; what is locked at this moment is
-- passed over, since the guard of the claim holds it as well. All are marked only when none was.

CREATE OR REPLACE FUNCTION omd_dispatch._mark_suspended(
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
SET jit = off
AS $mark_suspended$
DECLARE
    v_family_code text;
    v_rows bigint;
    v_is_left boolean;
BEGIN
    SELECT s.family_code INTO v_family_code
    FROM omd_dispatch.task_suspension AS s
    WHERE s.suspension_id = p_suspension_id;
    PERFORM omd_dispatch._hold_model(v_family_code);
    LOOP
        BEGIN
            EXECUTE format(
                $sql$
                UPDATE %1$s AS t SET suspension_id = p.suspension_id
                FROM (
                    SELECT t.task_id, %3$s AS partition_code, $1 AS suspension_id
                    FROM %1$s AS t
                    WHERE t.status = 'PENDING'
                        AND t.suspension_id IS NULL
                        AND EXISTS (
                            SELECT FROM omd_dispatch._suspension_holds($1, t.task_type, %2$s)
                        )
                    LIMIT $2
                    FOR UPDATE SKIP LOCKED
                ) AS p
                WHERE t.task_id = p.task_id AND %3$s = p.partition_code
                $sql$,
                omd_dispatch._model_table(v_family_code),
                omd_dispatch._criteria_sql(v_family_code),
                omd_dispatch._partition_sql(v_family_code)
            ) USING p_suspension_id, p_limit;
            GET DIAGNOSTICS v_rows = ROW_COUNT;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                -- A purge has moved a task.
                NULL;
        END;
    END LOOP;
    IF v_rows < p_limit THEN
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %s AS t WHERE t.status = ''PENDING'''
            ' AND t.suspension_id IS NULL'
            ' AND EXISTS (SELECT FROM omd_dispatch._suspension_holds($1, t.task_type, %s)))',
            omd_dispatch._model_table(v_family_code),
            omd_dispatch._criteria_sql(v_family_code)
        )
        INTO v_is_left
        USING p_suspension_id;
        UPDATE omd_dispatch.task_suspension AS s SET is_marked = TRUE
        WHERE s.suspension_id = p_suspension_id AND NOT s.is_marked AND NOT v_is_left;
    END IF;
    RETURN v_rows;
END
$mark_suspended$;

COMMENT ON FUNCTION omd_dispatch._mark_suspended IS
'Marks up to p_limit pending tasks that the suspension p_suspension_id holds, and returns their '
'number. Locks: the tasks; locked ones are passed over.';
