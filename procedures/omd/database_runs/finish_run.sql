-- Execute and end of a run that has begun and is committed, the same for every kind. A procedure
-- that commits can't set a search_path, so every name, type and operator is qualified.

CREATE OR REPLACE PROCEDURE omd.finish_run(
    p_module_kind_code text,
    p_module_instance_id bigint,
    p_executable text,
    INOUT p_execution_status_code text DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    INOUT p_is_more boolean DEFAULT NULL,
    INOUT p_is_cancelled boolean DEFAULT NULL,
    p_first_begin timestamptz DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $finish_run$
DECLARE
    v_kind CONSTANT pg_catalog.record := omd._routines_of_kind(p_module_kind_code);
BEGIN
    CALL omd.execute_module(
        p_module_instance_id, p_executable, p_execution_status_code, p_is_cancelled,
        v_kind.p_keeps_settings
    );
    IF p_first_begin IS NOT NULL THEN
        PERFORM pg_catalog.set_config(
            'omd.first_begin',
            pg_catalog.to_jsonb(p_first_begin) OPERATOR(pg_catalog.#>>) '{}',
            TRUE
        );
    END IF;
    EXECUTE pg_catalog.format('CALL %s($1, $2, $3)', v_kind.p_end_routine)
    INTO p_is_more
    USING p_module_instance_id, p_execution_status_code, p_is_more;
    COMMIT;
    IF p_execution_status_code OPERATOR(pg_catalog.=) 'F' THEN
        p_detail := coalesce(omd.why_failed(p_module_instance_id, 0), '');
    END IF;
END
$finish_run$;

COMMENT ON PROCEDURE omd.finish_run IS
'For rooms: Executes p_executable for the run p_module_instance_id of a Module of the kind '
'p_module_kind_code, which has begun and is committed, ends it and calls the end routine of the '
'kind; it commits in between. Returns p_execution_status_code (S or F), p_detail (why it failed), '
'p_is_more (what the end routine says) and p_is_cancelled: the statement was cancelled, so the '
'caller stops. p_first_begin: when the first of several runs began, which the end routine reads in '
'the setting omd.first_begin; NULL: p_is_more is not asked for. Locks: what the executable takes.';
GRANT EXECUTE ON PROCEDURE omd.finish_run TO omd_runner;
