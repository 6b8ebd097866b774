-- Workers listen for their group, and look for tasks when it is named.

CREATE OR REPLACE FUNCTION omd_dispatch._notify_due(
    p_family_code text,
    p_task_type text,
    p_execution_time timestamptz
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT omd_dispatch._tell_due(t.deliver_id)
    FROM omd_dispatch.task_conf_type_desc AS t
    WHERE
        t.family_code = p_family_code
        AND t.task_type = p_task_type
        AND coalesce(p_execution_time <= clock_timestamp(), TRUE);
END;

COMMENT ON FUNCTION omd_dispatch._notify_due IS
'Tells the workers of the type p_task_type in p_family_code that a task may be due; not when '
'p_execution_time is later than now. Locks: the queue of notifications, at the commit.';
