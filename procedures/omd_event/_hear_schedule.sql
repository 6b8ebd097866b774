-- The problem of a schedule is the text of an error, which may hold values of rows: the event has
-- its code alone.

CREATE OR REPLACE FUNCTION omd_event._hear_schedule()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_schedule$
BEGIN
    INSERT INTO omd_event.outbox (event_type, subject_type, subject_id, code, detail)
    VALUES (
        'SCHEDULE_FAILED',
        'SCHEDULE',
        0,
        new.schedule_code,
        jsonb_strip_nulls(
            jsonb_build_object(
                'reason',
                CASE WHEN new.lost_count > old.lost_count THEN 'LOST' ELSE 'PROBLEM' END,
                'return_code', substring(new.problem FROM '^([0-9A-Z]{5}):')
            )
        )
    );
    RETURN NULL;
END
$hear_schedule$;

COMMENT ON FUNCTION omd_event._hear_schedule IS
'Trigger: writes that a schedule has a problem, or lost an occurrence, to the outbox. Locks: '
'none.';
REVOKE ALL ON FUNCTION omd_event._hear_schedule FROM PUBLIC;
