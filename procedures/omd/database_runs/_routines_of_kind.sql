-- A runner reads nothing of process control; it may know the parts of a run.

CREATE OR REPLACE FUNCTION omd._routines_of_kind(
    p_module_kind_code text,
    OUT p_end_routine text,
    OUT p_keeps_settings boolean
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $routines_of_kind$
BEGIN
    SELECT h.routine, k.keeps_settings INTO p_end_routine, p_keeps_settings
    FROM omd.module_kind AS k
    LEFT JOIN omd.room_hook AS h ON h.hook = 'END_RUN' AND k.module_kind_code = h.for_code
    WHERE k.module_kind_code = p_module_kind_code;
END
$routines_of_kind$;

COMMENT ON FUNCTION omd._routines_of_kind IS
'Returns the end routine of the kind p_module_kind_code, and whether its runs change no settings. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd._routines_of_kind TO omd_runner;
