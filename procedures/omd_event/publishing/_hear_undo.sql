-- Rollback and recall mark the instances in one place, which this trigger sees.

CREATE OR REPLACE FUNCTION omd_event._hear_undo()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_undo$
BEGIN
    INSERT INTO omd_event.outbox (
        event_type, subject_type, subject_id, code, started_datetime, detail
    )
    SELECT
        'RUN_UNDONE',
        'MODULE',
        new.module_instance_id,
        m.module_code,
        new.start_datetime,
        jsonb_strip_nulls(
            jsonb_build_object(
                'batch_instance_id', nullif(new.batch_instance_id, 0),
                'undone_by', new.rolled_back_by_module_instance_id
            )
        )
    FROM omd.ledger_module AS m
    WHERE m.module_id = new.module_id;
    RETURN NULL;
END
$hear_undo$;

COMMENT ON FUNCTION omd_event._hear_undo IS
'Trigger: writes the event that a run was undone to the outbox. Locks: none.';
