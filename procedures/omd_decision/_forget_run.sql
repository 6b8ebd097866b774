-- Whatever begins or confirms a rollback, the instance is marked in one place: this trigger sees
-- it.

CREATE OR REPLACE FUNCTION omd_decision._forget_run()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_run$
BEGIN
    DELETE FROM omd_decision.run AS r WHERE r.module_instance_id = new.module_instance_id;
    IF FOUND THEN
        DELETE FROM omd_decision.cycle AS c WHERE c.module_instance_id = new.module_instance_id;
        DELETE FROM omd_decision.reject AS r WHERE r.module_instance_id = new.module_instance_id;
    END IF;
    RETURN NULL;
END
$forget_run$;

COMMENT ON FUNCTION omd_decision._forget_run IS
'Deletes what the room has kept of a run that is rolled back. Locks: the deleted rows.';
REVOKE ALL ON FUNCTION omd_decision._forget_run FROM PUBLIC;
