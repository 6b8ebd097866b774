-- The tables of a family are known only at run time.

CREATE OR REPLACE FUNCTION omd_dispatch._give_back_of(
    p_family_code text,
    p_backend_id text,
    p_task_ids bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_back_of$
DECLARE
    v_rows bigint;
BEGIN
    EXECUTE format(
        'WITH given AS (UPDATE %s SET'
        ' status = CASE WHEN cancel_requested THEN ''CANCELLED'' ELSE ''PENDING'' END,'
        ' finished_at = CASE WHEN cancel_requested THEN clock_timestamp() END,'
        ' pending_since = CASE WHEN NOT cancel_requested THEN clock_timestamp() END,'
        ' attempt = attempt - 1, claimed_by = NULL, claimed_at = NULL, claim_token = NULL,'
        ' cancel_requested = FALSE'
        ' WHERE status = ''CLAIMED'' AND claimed_by = $1 AND (task_id = ANY($2) OR $2 IS NULL'
        ' AND NOT EXISTS (SELECT FROM omd.instance_of_task(task_id, claim_token)))'
        ' RETURNING task_id, status),'
        ' released AS (DELETE FROM omd_dispatch.mutex AS m USING given AS g'
        ' WHERE m.task_id = g.task_id AND g.status = ''CANCELLED'')'
        ' SELECT count(*) FROM given',
        omd_dispatch._model_table(p_family_code)
    )
    INTO v_rows
    USING p_backend_id, p_task_ids;
    RETURN v_rows;
END
$give_back_of$;

COMMENT ON FUNCTION omd_dispatch._give_back_of IS
'Gives back tasks of p_family_code, which the caller holds, as _give_back says. Locks: the tasks '
'and their keys.';
