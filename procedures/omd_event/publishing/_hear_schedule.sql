-- The problem of a schedule is the text of an error, which may hold values of rows: the event has
-- its code alone. While a source fails an occurrence may be lost each few seconds: the first one is
-- reported, and how many they were when it is over.

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
                CASE
                    WHEN new.lost_count > old.lost_count THEN 'LOST'
                    WHEN new.lost_in_row IS NULL AND old.lost_in_row IS NOT NULL THEN 'RECOVERED'
                    ELSE 'PROBLEM'
                END,
                'return_code', substring(new.problem FROM '^([0-9A-Z]{5}):'),
                'lost', CASE WHEN new.lost_in_row IS NULL THEN old.lost_in_row END
            )
        )
    );
    RETURN NULL;
END
$hear_schedule$;

COMMENT ON FUNCTION omd_event._hear_schedule IS
'Trigger: writes that a schedule has a problem, began to lose occurrences, or has recovered, to '
'the outbox. Locks: none.';
