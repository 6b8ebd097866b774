-- This is the executable of every stage, so it has no argument: the run tells the stage.

CREATE OR REPLACE PROCEDURE omd_decision.process_stage()
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $process_stage$
DECLARE
    v_module_instance_id bigint := CASE
        WHEN current_setting('omd.module_instance_id', TRUE) ~ '^[0-9]{1,18}$'
            THEN current_setting('omd.module_instance_id', TRUE)::bigint
    END;
BEGIN
    PERFORM omd_decision._pin_run(v_module_instance_id, 'POSTGRES', NULL, NULL, NULL);
    CALL omd_decision._process_run(v_module_instance_id);
END
$process_stage$;

COMMENT ON PROCEDURE omd_decision.process_stage IS
'For rooms: Runs the stage whose Module is executed by omd.run_module, omd.run_batch or '
'omd_decision.run_stage; it is the executable of such a Module, and of no use elsewhere. Errors: '
'OM010, OM013, OM019: the end of the window does not fit the windows before; OM101: the run was '
'ended meanwhile; OM114: rows of its block were taken back; OM181: no such run executes; OM280, '
'OM281, OM282: rejects that the stage forbids; OM283: the ruleset failed; OM284: its answer does '
'not fit an output; OM285, OM289, OM290, OM291: the records; OM286, OM287, OM288: the ruleset; '
'those of the outputs. Locks: what reading and writing takes.';
GRANT EXECUTE ON PROCEDURE omd_decision.process_stage TO omd_runner;
