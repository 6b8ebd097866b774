-- A run that began after the rows were there has read them, unless its window is one of positions
-- and ends before them. Of a run that still executes nobody knows, so it counts. BETWEEN keeps the
-- planner to the index of a Module's runs.

CREATE OR REPLACE FUNCTION omd.first_read(
    p_module_id integer,
    p_after_id bigint,
    p_upto_id bigint,
    p_from timestamptz,
    p_has_positions boolean
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT mi.module_instance_id
    FROM omd.module_instance AS mi
    LEFT JOIN omd.source_control AS sc ON mi.module_instance_id = sc.module_instance_id
    WHERE
        mi.module_id BETWEEN p_module_id AND p_module_id
        AND mi.module_instance_id > p_after_id
        AND mi.module_instance_id <= p_upto_id
        AND mi.execution_status_code IN ('S', 'E')
        AND mi.rolled_back_by_module_instance_id IS NULL
        AND (
            NOT p_has_positions
            OR p_from IS NULL
            OR coalesce(sc.end_value, '-infinity') = '-infinity'
            OR sc.end_value >= p_from
        )
    ORDER BY mi.module_id, mi.module_instance_id
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.first_read IS
'For rooms: Returns the first standing run of the Module p_module_id after the Module Instance '
'p_after_id, and not after p_upto_id, that may have read rows from the position p_from on; NULL '
'when there is none. p_has_positions: its windows are positions of these rows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.first_read TO omd_reader;
