-- A run that only undoes what failed has not done what failed, so the failures in a row stay.

CREATE OR REPLACE PROCEDURE omd.succeed_rollback(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $succeed_rollback$
DECLARE
    v_state omd.module_state;
BEGIN
    SELECT s.* INTO v_state
    FROM omd.module_state AS s
    WHERE s.module_id = (
        SELECT mi.module_id FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = p_module_instance_id
    );
    CALL omd.module_success(p_module_instance_id);
    IF v_state.module_id IS NOT NULL THEN
        INSERT INTO omd.module_state SELECT v_state.*;
    END IF;
END
$succeed_rollback$;

COMMENT ON PROCEDURE omd.succeed_rollback IS
'For rooms: Ends the Module Instance p_module_instance_id, which has only undone other runs, with '
'status S; the failures of its Module in a row stay. Errors: OM004, OM005, OM101, OM102. Locks: '
'the instance row; then the state of the Module.';
GRANT EXECUTE ON PROCEDURE omd.succeed_rollback TO omd_runner;
