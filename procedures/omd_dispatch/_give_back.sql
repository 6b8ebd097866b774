-- A task that was not started counts no attempt, and is due as it was. One that is to be cancelled
-- need not start any more. A worker that leaves does not say what it has started, but the runs do.

CREATE OR REPLACE FUNCTION omd_dispatch._give_back(
    p_backend_id text,
    p_task_ids bigint[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_back$
DECLARE
    v_family_code text;
    v_rows bigint;
    v_all bigint := 0::bigint;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        PERFORM omd_dispatch._hold_model(v_family_code);
        EXECUTE format(
            'WITH given AS (UPDATE %s SET'
            ' status = CASE WHEN cancel_requested THEN ''CANCELLED'' ELSE ''PENDING'' END,'
            ' finished_at = CASE WHEN cancel_requested THEN clock_timestamp() END,'
            ' attempt = attempt - 1, claimed_by = NULL, claimed_at = NULL, claim_token = NULL,'
            ' cancel_requested = FALSE'
            ' WHERE status = ''CLAIMED'' AND claimed_by = $1 AND (task_id = ANY($2) OR $2 IS NULL'
            ' AND NOT EXISTS (SELECT FROM omd.instance_of_task(task_id, claim_token)))'
            ' RETURNING task_id, status),'
            ' let_go AS (DELETE FROM omd_dispatch.mutex AS m USING given AS g'
            ' WHERE m.task_id = g.task_id AND g.status = ''CANCELLED'')'
            ' SELECT count(*) FROM given',
            omd_dispatch._model_table(v_family_code)
        )
        INTO v_rows
        USING p_backend_id, p_task_ids;
        v_all := v_all + v_rows;
    END LOOP;
    IF v_all > 0 THEN
        PERFORM omd_dispatch._tell_due(b.backend_type)
        FROM omd_dispatch.backend_registration AS b
        WHERE b.backend_id = p_backend_id;
    END IF;
    RETURN v_all;
END
$give_back$;

COMMENT ON FUNCTION omd_dispatch._give_back IS
'Makes the tasks p_task_ids (NULL: all that have begun no run) that the member p_backend_id has '
'claimed pending again, as if they had not been claimed, or cancelled where that was asked, and '
'returns their number. Locks: the tasks and their keys.';
REVOKE ALL ON FUNCTION omd_dispatch._give_back FROM PUBLIC;
