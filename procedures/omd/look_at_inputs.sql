-- A round is bounded, and whoever comes next goes on with what was looked at longest ago.

CREATE OR REPLACE FUNCTION omd.look_at_inputs()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $look_at_inputs$
DECLARE
    v_due record;
BEGIN
    PERFORM omd.require_maintenance('omd.look_at_inputs');
    FOR v_due IN SELECT d.module_code, d.declaration_id FROM omd._due_looks(50) AS d LOOP
        IF v_due.declaration_id IS NULL THEN
            PERFORM omd._look_at_sql(v_due.module_code);
        ELSE
            PERFORM omd._look_again(v_due.declaration_id);
        END IF;
    END LOOP;
END
$look_at_inputs$;

COMMENT ON FUNCTION omd.look_at_inputs IS
'For rooms: looks up what Modules read, 50 of them, with the rights of the caller: a view under a '
'declaration may have changed. omd.maintain_rooms calls it. Errors: OM018: another calls it. '
'Locks: Modules where something is new.';
REVOKE ALL ON FUNCTION omd.look_at_inputs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.look_at_inputs TO omd_runner, omd_admin;
