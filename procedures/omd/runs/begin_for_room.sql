-- A room begins its own Modules in routines that have the rights of the owner, so nothing that
-- users have registered is executed here: what a run has to undo, the routine of its kind undoes.

CREATE OR REPLACE PROCEDURE omd.begin_for_room(
    p_module_code text,
    p_batch_instance_id bigint,
    p_execution_context jsonb,
    p_lease interval,
    p_executable text,
    INOUT p_module_instance_id bigint,
    INOUT p_processing_indicator text,
    INOUT p_reason text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_for_room$
DECLARE
    v_answer record;
BEGIN
    v_answer := omd._open_module_instance(
        p_module_code,
        p_batch_instance_id,
        CASE
            WHEN p_executable IS NULL THEN p_execution_context
            ELSE
                omd._session_context(p_execution_context)
                || jsonb_build_object('code_checksum', md5(p_executable))
        END,
        p_lease,
        p_executable IS NOT NULL,
        TRUE
    );
    p_module_instance_id := v_answer.p_module_instance_id;
    p_processing_indicator := v_answer.p_processing_indicator;
    p_reason := v_answer.p_reason;
    IF p_processing_indicator = 'R' THEN
        PERFORM omd._undo_for_room(p_module_instance_id);
        p_processing_indicator := 'P';
    END IF;
END
$begin_for_room$;

COMMENT ON PROCEDURE omd.begin_for_room IS
'For rooms: Begins a run of the Module p_module_code, whose kind has a hook UNDO_RUNS, as '
'begin_module does, and undoes what is pending by that routine alone. p_executable: what the run '
'executes in this statement, with which it lives; NULL: it lives by its lease. Errors: OM002, '
'OM003, OM005, OM011, OM013, OM014, OM101. Locks: the Module row.';
