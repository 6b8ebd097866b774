-- The rule itself stands in _frequency_is_met; an explanation also names the moment.

CREATE OR REPLACE FUNCTION omd._frequency_holds_until(
    p_batch_id integer
)
RETURNS timestamptz
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT bi.start_datetime + f.frequency_interval
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
    INNER JOIN omd.frequency AS f ON b.frequency_code = f.frequency_code
    WHERE
        bi.batch_instance_id = omd._last_real_batch_run(p_batch_id)
        AND bi.execution_status_code = 'S';
END;


COMMENT ON FUNCTION omd._frequency_holds_until IS
'Returns until when the last success of the Batch p_batch_id keeps it from running, by the '
'interval of its frequency; NULL when nothing keeps it. Locks: none.';
REVOKE ALL ON FUNCTION omd._frequency_holds_until FROM PUBLIC;
