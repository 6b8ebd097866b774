-- A sink to which nothing waits moves along: else it would seem to be far behind.

CREATE OR REPLACE FUNCTION omd_event._skip_event_numbers(
    p_count bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $skip_event_numbers$
DECLARE
    v_newest bigint;
BEGIN
    SELECT s.event_number INTO STRICT v_newest FROM omd_event.setting AS s FOR UPDATE;
    v_newest := greatest(v_newest, (SELECT max(e.event_number) FROM omd_event.event AS e));
    UPDATE omd_event.setting AS s SET event_number = v_newest + p_count;
    UPDATE omd_event.sink AS s SET
        event_number = v_newest + p_count,
        taken_upto = v_newest + p_count
    WHERE s.event_number >= v_newest;
END
$skip_event_numbers$;

COMMENT ON FUNCTION omd_event._skip_event_numbers IS
'Passes over p_count numbers of events. Locks: the row of omd_event.setting; the sinks to which '
'nothing waits.';
