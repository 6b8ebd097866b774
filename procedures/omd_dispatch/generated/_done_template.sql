-- What most workers report of most tasks needs no look at runs: they have succeeded.

CREATE OR REPLACE FUNCTION omd_dispatch._done_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $done_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_backend_id text,
    p_partition_code integer,
    p_claim_token bigint,
    p_task_ids bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
{settings}
AS $done$
DECLARE
    v_ended bigint[];
    v_over bigint[];
BEGIN
    WITH ended AS (
        UPDATE {table} AS t SET
            status = 'DONE',
            outcome = 'S',
            error = NULL,
            finished_at = clock_timestamp(),
            claimed_by = NULL,
            claimed_at = NULL,
            claim_token = NULL,
            cancel_requested = FALSE
        WHERE {partition} = p_partition_code
            AND t.task_id = ANY(p_task_ids)
            AND t.claimed_by = p_backend_id
            AND t.claim_token = p_claim_token
        RETURNING t.task_id, t.key_hash
    )
    SELECT
        array_agg(e.task_id),
        array_agg(e.task_id) FILTER (WHERE e.key_hash IS NOT NULL)
    INTO v_ended, v_over
    FROM ended AS e;
    IF v_over IS NOT NULL THEN
        DELETE FROM omd_dispatch.mutex AS m WHERE m.task_id = ANY(v_over);
    END IF;
    RETURN v_ended;
END
$done$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns the tasks that it has ended, as _end_done says.';
$template$;
END
$done_template$;

COMMENT ON FUNCTION omd_dispatch._done_template IS
'Returns the template of the function of a family that ends tasks that have succeeded. '
'Locks: none.';
