-- Dispatch inserts each dead task into a table for those who hear of it; the row goes on to the
-- outbox and is not kept there.

CREATE OR REPLACE FUNCTION omd_event._hear_death()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_death$
BEGIN
    INSERT INTO omd_event.outbox (event_type, subject_type, subject_id, code, detail)
    VALUES (
        'TASK_DEAD',
        'TASK',
        new.task_id,
        format('%s/%s', new.family_code, new.task_type),
        jsonb_strip_nulls(
            jsonb_build_object(
                'attempt', new.attempt,
                'batch_instance_id', nullif(new.batch_instance_id, 0),
                'module_instance_id', nullif(new.module_instance_id, 0)
            )
        )
    );
    RETURN NULL;
END
$hear_death$;

COMMENT ON FUNCTION omd_event._hear_death IS
'Trigger: writes the death of a task to the outbox, in place of the row. Locks: none.';
