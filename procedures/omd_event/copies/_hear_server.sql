-- A copy passes over all that waits, also what was committed and has no number yet: the other
-- installation says it. Whoever publishes at the moment is waited for.

CREATE OR REPLACE FUNCTION omd_event._hear_server(
    p_as text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_server$
DECLARE
    v_published bigint;
    v_newest bigint;
BEGIN
    IF p_as = 'COPY' THEN
        PERFORM FROM omd_event.setting AS s FOR UPDATE;
        LOOP
            CALL omd_event.publish(10000, v_published, v_newest);
            EXIT WHEN v_published = 0;
        END LOOP;
        UPDATE omd_event.sink AS s SET
            event_number = v_newest,
            problem = NULL,
            problem_datetime = NULL,
            not_before = NULL,
            pause = NULL;
    END IF;
    PERFORM omd_event._end_leases();
    UPDATE omd_event.sink AS s SET taken_upto = s.event_number;
END
$hear_server$;

COMMENT ON FUNCTION omd_event._hear_server IS
'Ends the leases of all sinks and, where p_as is COPY, passes over what waits for them. Locks: the '
'row of omd_event.setting, the rows of the sinks.';
