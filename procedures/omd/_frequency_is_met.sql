-- Only a success counts: after a failure, or while a rollback is pending, the Batch runs again at
-- once. A scheduler does not start to the millisecond, so a start may be early by the tolerance;
-- without it, a Daily Batch that starts a moment early would be skipped for a whole day.

CREATE OR REPLACE FUNCTION omd._frequency_is_met(
    p_batch_id integer,
    p_frequency_code text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $frequency_is_met$
DECLARE
    v_next_start timestamptz;
BEGIN
    SELECT
        bi.start_datetime + f.frequency_interval
        - coalesce(
            f.frequency_tolerance, least(0.05 * f.frequency_interval, interval '1 hour')
        )
    INTO v_next_start
    FROM omd.batch_instance AS bi
    INNER JOIN omd.frequency AS f ON f.frequency_code = p_frequency_code
    WHERE bi.batch_instance_id = omd._last_real_batch_run(p_batch_id)
        AND bi.execution_status_code = 'S';
    RETURN v_next_start > clock_timestamp() AND NOT omd._batch_rollback_is_pending(p_batch_id);
END
$frequency_is_met$;

COMMENT ON FUNCTION omd._frequency_is_met IS
'Returns whether the last real run of the Batch p_batch_id succeeded and started less than the '
'interval of p_frequency_code ago, minus its tolerance, and no rollback is pending; else NULL or '
'FALSE. Locks: none.';
REVOKE ALL ON FUNCTION omd._frequency_is_met FROM PUBLIC;
