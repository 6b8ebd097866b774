-- A recall hands over runs of all rooms; each room takes those of its kind that are there to be
-- taken back. A run in the database that executes is none of them: a recall waits for it.

CREATE OR REPLACE FUNCTION omd.standing_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    module_id integer,
    module_kind_code text,
    execution_status_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        mi.module_instance_id,
        mi.module_id,
        m.module_kind_code,
        mi.execution_status_code
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE
        mi.module_instance_id = any(p_instance_array)
        AND mi.rolled_back_by_module_instance_id IS NULL
        AND (
            mi.execution_status_code = 'S'
            OR (mi.execution_status_code = 'E' AND NOT mi.is_session_bound)
        );
END;

COMMENT ON FUNCTION omd.standing_runs IS
'For rooms: Returns those of the Module Instances p_instance_array that have succeeded and are not '
'undone, or that execute outside of the database, with their Module and its kind. Locks: none.';
