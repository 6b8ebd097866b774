-- The ended instances of a Module that must be undone before it loads again: failed, or marked R,
-- and not rolled back yet, wherever they ran. For a Module with load windows a marked success takes
-- every later one with it, since their windows follow on from its own. A fact, not a flag. Locks:
-- none.

CREATE OR REPLACE FUNCTION omd.pending_rollback(
    p_module_id integer
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH marked AS (
        SELECT
            mi.module_instance_id,
            mi.execution_status_code
        FROM omd.module_instance AS mi
        WHERE
            mi.module_id = p_module_id
            AND (mi.execution_status_code = 'F' OR mi.next_run_indicator = 'R')
            AND mi.rolled_back_by_module_instance_id IS NULL
            AND mi.execution_status_code <> 'E'
    ),

    pending AS (
        SELECT m.module_instance_id FROM marked AS m
        UNION
        SELECT later.module_instance_id
        FROM omd.module_instance AS later
        WHERE
            later.module_id = p_module_id
            AND later.execution_status_code = 'S'
            AND later.rolled_back_by_module_instance_id IS NULL
            AND later.module_instance_id > (
                SELECT min(m.module_instance_id)
                FROM marked AS m
                WHERE m.execution_status_code = 'S'
            )
            AND EXISTS (
                SELECT
                FROM omd.source_control AS sc
                WHERE sc.module_id = p_module_id AND NOT sc.is_taken_back
            )
    )

    SELECT coalesce(array_agg(p.module_instance_id ORDER BY p.module_instance_id), '{}')
    FROM pending AS p;
END;

COMMENT ON FUNCTION omd.pending_rollback IS
'The instances of the Module p_module_id that a begin would roll back now, in id order; empty '
'when there are none. Locks: none.';
REVOKE ALL ON FUNCTION omd.pending_rollback FROM PUBLIC;
