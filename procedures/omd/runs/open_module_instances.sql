-- What is open executes or waits. Each has its own look, as omd._decide_module has: one for both
-- would pass over each run that has ended since a transaction sleeps. The planner inlines it into
-- the query of the caller.

CREATE OR REPLACE FUNCTION omd.open_module_instances(
    p_module_id integer
)
RETURNS SETOF bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT e.id FROM omd._executing_module_instances(p_module_id, NULL) AS e (id)
    UNION
    SELECT w.id FROM omd._waiting_module_instances(p_module_id) AS w (id);
END;

COMMENT ON FUNCTION omd.open_module_instances IS
'For rooms: Returns the instances of the Module p_module_id that execute, ask for the next run to '
'be skipped, or wait for a rollback. Most Modules have none. Locks: none.';
