-- What a worker does next is decided here, for workers in every language: they differ in how they
-- do it. Each kind has a routine of its room, since omd names no room.

CREATE OR REPLACE FUNCTION omd.next_act(
    p_module_code text
)
RETURNS TABLE (
    act text,
    arguments jsonb,
    status text,
    detail text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $next_act$
DECLARE
    v_kind record;
    v_routine regproc;
BEGIN
    v_kind := omd._act_of_kind(p_module_code);
    v_routine := v_kind.p_act_routine::regproc;
    EXECUTE format(
        'SELECT a.p_act, a.p_arguments, a.p_status, a.p_detail FROM %s($1) AS a',
        v_routine
    )
    INTO act, arguments, status, detail
    USING p_module_code;
    arguments := jsonb_build_object(
        'module_code', p_module_code,
        'module_kind_code', v_kind.p_module_kind_code,
        'engine_code', v_kind.p_engine_code
    ) || arguments;
    RETURN NEXT;
END
$next_act$;

COMMENT ON FUNCTION omd.next_act IS
'For programs: One row: what a worker does now to run the Module p_module_code; it changes '
'nothing. The act is STATEMENT, STEP, STAGE or LOAD: where engine_code is POSTGRES, omd.run_module '
'does it; FUNCTION: call the job; EXPORT: ask omd_facts.due_export for the export; RESUME: go on '
'with the delivery or export delivery_id; DELIVER: look at the location where is_look_due, and ask '
'omd_delivery.take_arrival; BY_HAND: a person must do it; or NOTHING. The arguments are '
'module_code, module_kind_code, engine_code, and what the act needs. The status is that with which '
'a run would end where nothing is to be done: C (there is nothing, or INACTIVE) or A (another '
'works at it, or it waits for something); NULL: there is something to do. The detail says why. '
'Errors: OM002, OM005, OM219: it never runs on its own; those of its room. Locks: none. May be '
'NULL: status, detail.';
GRANT EXECUTE ON FUNCTION omd.next_act TO omd_reader;
