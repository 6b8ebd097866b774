-- Whatever begins or confirms a rollback, the instance is marked in one place: this trigger sees
-- it. What a recall took back is kept, and compared with what is decided again. A window that had
-- been taken again is not among the later ones that a rollback takes along, so it is to be taken
-- again.

CREATE OR REPLACE FUNCTION omd_decision._forget_run()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_run$
BEGIN
    DELETE FROM omd_decision.run AS r
    WHERE r.module_instance_id = new.module_instance_id AND r.recall_id IS NULL;
    IF FOUND THEN
        DELETE FROM omd_decision.cycle AS c WHERE c.module_instance_id = new.module_instance_id;
        DELETE FROM omd_decision.reject AS r WHERE r.module_instance_id = new.module_instance_id;
        PERFORM omd.reopen_window(new.module_instance_id);
    END IF;
    RETURN NULL;
END
$forget_run$;

COMMENT ON FUNCTION omd_decision._forget_run IS
'Deletes what the room has kept of a run that is rolled back. Locks: the deleted rows.';
