-- Only a success counts: after a failure, or while a rollback is pending, the Batch runs again at
-- once. A scheduler does not start to the millisecond, so a start may be early by the tolerance;
-- without it, a Daily Batch that starts a moment early would be skipped for a whole day. On the day
-- when the clocks go forward, the same local time comes an hour early, so the default covers more.

CREATE OR REPLACE FUNCTION omd._frequency_holds_until(
    p_batch_id integer,
    p_frequency_code text
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $frequency_holds_until$
DECLARE
    v_next_start timestamptz;
BEGIN
    SELECT
        bi.start_datetime + f.frequency_interval
        - coalesce(
            f.frequency_tolerance, least(0.05 * f.frequency_interval, interval '70 minutes')
        )
    INTO v_next_start
    FROM omd.batch_instance AS bi
    INNER JOIN omd.frequency AS f ON f.frequency_code = p_frequency_code
    WHERE bi.batch_instance_id = omd._last_real_batch_run(p_batch_id)
        AND bi.execution_status_code = 'S';
    IF v_next_start > clock_timestamp() AND NOT omd._batch_rollback_is_pending(p_batch_id) THEN
        RETURN v_next_start;
    END IF;
    RETURN NULL;
END
$frequency_holds_until$;

COMMENT ON FUNCTION omd._frequency_holds_until IS
'Returns from when on the Batch p_batch_id may run again: the start of its last real run, plus '
'the interval of p_frequency_code, minus the tolerance. It returns NULL when the Batch may run '
'now, because that time has come, the last real run has failed, or a rollback is pending. Locks: '
'none.';
