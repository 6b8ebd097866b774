-- The part of the kinds SQL and JOB in omd.room_hook.

CREATE OR REPLACE FUNCTION omd.next_program(
    p_module_code text,
    OUT p_act text,
    OUT p_arguments jsonb,
    OUT p_status text,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_program$
DECLARE
    v_engine_code text;
    v_job text;
BEGIN
    p_arguments := '{}';
    SELECT w.p_status, w.p_detail INTO p_status, p_detail FROM omd.why_no_run(p_module_code) AS w;
    SELECT m.engine_code, m.job INTO v_engine_code, v_job
    FROM omd.module AS m
    WHERE m.module_code = p_module_code;
    IF p_status IS NOT NULL THEN
        p_act := 'NOTHING';
    ELSIF v_engine_code = 'POSTGRES' THEN
        p_act := 'STATEMENT';
    ELSIF v_job IS NOT NULL THEN
        p_act := 'FUNCTION';
        p_arguments := jsonb_build_object('job', v_job);
    ELSE
        p_act := 'BY_HAND';
        p_detail := 'it has neither SQL nor a job';
    END IF;
END
$next_program$;

COMMENT ON FUNCTION omd.next_program IS
'For rooms: Says what omd.next_act answers for the Module p_module_code, of kind SQL or JOB: p_act '
'STATEMENT, FUNCTION with its job in p_arguments, BY_HAND (a program outside begins it), or '
'NOTHING with p_status and p_detail. Errors: OM002, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.next_program TO omd_reader;
