-- What is not in this database, the caller undoes, by the templates. The planner inlines it.

CREATE OR REPLACE FUNCTION omd._undo_routines(
    p_module_id integer
)
RETURNS SETOF text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT h.routine
    FROM omd.module AS m
    INNER JOIN omd.room_hook AS h
        ON h.hook = 'UNDO_RUNS' AND m.module_kind_code = h.for_code
    WHERE m.module_id = p_module_id AND m.platform_code = 'POSTGRES';
END;

COMMENT ON FUNCTION omd._undo_routines IS
'Returns the routine of a room that undoes the runs of the Module p_module_id, whose target is in '
'this database; no row: templates do. Locks: none.';
