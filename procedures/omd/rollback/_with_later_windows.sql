-- A load window starts where the one before it ended. So for a Module with load windows, an undone
-- success takes every later one with it. A load of facts stands on those before it, whether it has
-- a window or is a resync, which has none.

CREATE OR REPLACE FUNCTION omd._with_later_windows(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SET enable_seqscan = off
SET jit = off
BEGIN ATOMIC
    WITH undone AS (
        SELECT given.id
        FROM unnest(p_instance_array) AS given (id)
        UNION
        SELECT later.module_instance_id
        FROM omd.module_instance AS later
        WHERE
            later.module_id = p_module_id
            AND later.execution_status_code = 'S'
            AND later.rolled_back_by_module_instance_id IS NULL
            AND later.module_instance_id > (
                SELECT min(mi.module_instance_id)
                FROM omd.module_instance AS mi
                WHERE
                    mi.module_instance_id = any(p_instance_array)
                    AND mi.execution_status_code = 'S'
            )
            -- This is not an EXISTS, since the planner would search the table for the first of many
            -- rows.
            AND (
                (
                    SELECT max(sc.module_instance_id)
                    FROM omd.source_control AS sc
                    WHERE sc.module_id = p_module_id AND NOT sc.is_taken_back
                ) IS NOT NULL
                OR (
                    SELECT m.module_kind_code FROM omd.module AS m
                    WHERE m.module_id = p_module_id
                ) = 'FACTS'
            )
    )

    SELECT coalesce(array_agg(u.id ORDER BY u.id), '{}')
    FROM undone AS u;
END;

COMMENT ON FUNCTION omd._with_later_windows IS
'Returns the instances p_instance_array of the Module p_module_id and, for a Module with load '
'windows or of facts, every success later than the first success among them; in the order of '
'their ids. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._with_later_windows TO omd_reader;
