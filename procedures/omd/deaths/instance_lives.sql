-- Rooms ask about runs of their own, which no Batch has called, as instance_outcome has it.

CREATE OR REPLACE FUNCTION omd.instance_lives(
    p_module_instance_id bigint
)
RETURNS boolean
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT coalesce(omd.instance_outcome(NULL, p_module_instance_id) = 'E', FALSE);
END;

COMMENT ON FUNCTION omd.instance_lives IS
'For rooms: Returns whether the Module Instance p_module_instance_id executes, its lease has not '
'expired, and the statement that it is bound to still runs. Locks: none.';
