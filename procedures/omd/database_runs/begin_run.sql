-- The part of the kinds SQL and JOB in omd.room_hook. The Module's own SQL needs no word of the
-- caller; for a Module without SQL the caller gives it. What the SQL reads is looked up before it
-- executes, with the rights of the caller, who can name the tables.

CREATE OR REPLACE PROCEDURE omd.begin_run(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    INOUT p_outcome text,
    INOUT p_module_instance_id bigint,
    INOUT p_executable text,
    INOUT p_detail text
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_run$
DECLARE
    v_indicator text;
    v_given CONSTANT text := p_executable;
BEGIN
    CALL omd.begin_in_database_run(
        p_module_code, p_batch_instance_id, p_executable, p_module_instance_id, v_indicator,
        p_execution_context
    );
    IF v_indicator = 'P' THEN
        p_outcome := 'RUN';
        IF v_given IS NOT NULL THEN
            PERFORM omd._record_sql(p_module_code, p_module_instance_id, v_given);
        ELSIF omd._needs_look(p_module_code) THEN
            PERFORM omd._look_at_sql(p_module_code);
        END IF;
        RETURN;
    END IF;
    p_outcome := CASE v_indicator WHEN 'C' THEN 'SKIPPED' ELSE 'BUSY' END;
    p_detail := omd.reason_of(p_module_instance_id);
END
$begin_run$;

COMMENT ON PROCEDURE omd.begin_run IS
'For rooms: Begins a run of the Module p_module_code, of kind SQL or JOB, as the hook BEGIN_RUN '
'says: p_batch_instance_id and p_execution_context go in, p_executable too where the caller gives '
'the SQL; p_outcome, p_module_instance_id, p_executable and p_detail are the answer. Errors: those '
'of begin_in_database_run. Locks: the Module row.';
GRANT EXECUTE ON PROCEDURE omd.begin_run TO omd_runner;
