-- Until when a Batch has run recently enough, by the interval of its frequency: the words of an
-- explanation, beside the rule itself.

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
'When the last success of the Batch p_batch_id no longer keeps it from running, by the interval '
'of its frequency; NULL when nothing does. Locks: none.';
REVOKE ALL ON FUNCTION omd._frequency_holds_until FROM PUBLIC;
