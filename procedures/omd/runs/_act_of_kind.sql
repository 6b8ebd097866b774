-- A reader reads nothing of process control; it may know which routine answers.

CREATE OR REPLACE FUNCTION omd._act_of_kind(
    p_module_code text,
    OUT p_act_routine text,
    OUT p_module_kind_code text,
    OUT p_engine_code text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $act_of_kind$
DECLARE
    v_module_id CONSTANT integer := omd._require_module(p_module_code);
BEGIN
    SELECT coalesce(h.routine, 'omd.next_program'), m.module_kind_code, m.engine_code
    INTO p_act_routine, p_module_kind_code, p_engine_code
    FROM omd.module AS m
    LEFT JOIN omd.room_hook AS h ON h.hook = 'NEXT_ACT' AND m.module_kind_code = h.for_code
    WHERE m.module_id = v_module_id;
    IF p_module_kind_code = 'PART' THEN
        PERFORM omd.raise_error(
            'OM219',
            jsonb_build_object(
                'module_code', p_module_code,
                'module_kind_code', p_module_kind_code,
                'problem', 'its runs are parts of others, and it never runs on its own',
                'next_command', format('omd show %s', p_module_code)
            )
        );
    END IF;
END
$act_of_kind$;

COMMENT ON FUNCTION omd._act_of_kind IS
'Returns the routine that says what is next for the Module p_module_code (p_act_routine), its kind '
'and its engine. Errors: OM002, OM005, OM219: it never runs on its own. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._act_of_kind TO omd_reader;
