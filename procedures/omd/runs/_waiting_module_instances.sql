-- The condition is that of ix_module_instance_waiting. A run that succeeds is never in this index,
-- so a look into it passes over nothing, even while vacuum is held up. The planner inlines it into
-- the query of the caller.

CREATE OR REPLACE FUNCTION omd._waiting_module_instances(
    p_module_id integer
)
RETURNS SETOF bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT o.module_instance_id
    FROM omd.module_instance AS o
    WHERE
        o.module_id = p_module_id
        AND (
            o.next_run_indicator = 'C'
            OR (
                (o.execution_status_code = 'F' OR o.next_run_indicator = 'R')
                AND o.rolled_back_by_module_instance_id IS NULL
            )
        );
END;

COMMENT ON FUNCTION omd._waiting_module_instances IS
'Returns the instances of the Module p_module_id that ask for the next run to be skipped or wait '
'for a rollback: what omd.open_module_instances has beyond those that execute. Locks: none.';
