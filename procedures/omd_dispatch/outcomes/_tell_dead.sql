-- One event for each task, at the moment at which it is given up. Rooms above hear of it by
-- triggers of omd_dispatch.task_death, in which no row stays.

CREATE OR REPLACE FUNCTION omd_dispatch._tell_dead(
    p_family_code text,
    p_tasks jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $tell_dead$
BEGIN
    PERFORM omd.write_event(
        coalesce(d.module_instance_id, 0),
        coalesce(d.batch_instance_id, 0),
        6,
        'TASK DEAD',
        format(
            'task %s (%s %s) is dead after %s attempts: %s',
            d.task_id, p_family_code, d.task_type, d.attempt, coalesce(d.error, 'no error was reported')
        )
    )
    FROM jsonb_to_recordset(p_tasks) AS d (
        task_id bigint, task_type text, attempt integer, error text, batch_instance_id bigint,
        module_instance_id bigint
    );
    INSERT INTO omd_dispatch.task_death (
        family_code, task_type, task_id, attempt, batch_instance_id, module_instance_id
    )
    SELECT
        p_family_code,
        d.task_type,
        d.task_id,
        d.attempt,
        d.batch_instance_id,
        d.module_instance_id
    FROM jsonb_to_recordset(p_tasks) AS d (
        task_id bigint, task_type text, attempt integer, batch_instance_id bigint,
        module_instance_id bigint
    );
END
$tell_dead$;

COMMENT ON FUNCTION omd_dispatch._tell_dead IS
'Writes an event for each of p_tasks of p_family_code, which are dead, and tells rooms of them. '
'Locks: none.';
