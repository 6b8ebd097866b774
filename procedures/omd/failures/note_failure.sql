-- Runs that end count by themselves. This is for what fails before a run begins, or where its end
-- can't be reported: a worker that finds no module, a Spark that does not start.

CREATE OR REPLACE PROCEDURE omd.note_failure(
    p_module_code text,
    p_detail text DEFAULT NULL,
    p_code text DEFAULT NULL,
    p_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_failure$
DECLARE
    v_module_id integer := omd._require_module(p_module_code);
BEGIN
    -- A run that has ended has counted, or was ended by hand, or has succeeded.
    IF p_module_instance_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id
            AND mi.module_id = v_module_id
            AND mi.execution_status_code = 'E'
        FOR KEY SHARE
    ) THEN
        IF NOT EXISTS (
            SELECT FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id = v_module_id
        ) THEN
            PERFORM omd.raise_error(
                'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
            );
        END IF;
        RETURN;
    END IF;
    PERFORM omd.count_failure(v_module_id, p_module_instance_id, p_detail, p_code);
END
$note_failure$;

COMMENT ON PROCEDURE omd.note_failure IS
'For rooms: '
'Counts a failure of the Module p_module_code that no run has reported: its work waits, twice as '
'long after each failure in a row. p_detail: the text of the error, of which the first line is '
'kept, without values of rows. p_code: its code, such as an SQLSTATE. p_module_instance_id: the '
'run that it belongs to, if there is one; a run counts once, and one that has ended changes '
'nothing. Errors: OM002, OM004: it is no run of the Module, OM005: p_module_code is NULL. Locks: '
'the state of the Module.';
GRANT EXECUTE ON PROCEDURE omd.note_failure TO omd_runner;
