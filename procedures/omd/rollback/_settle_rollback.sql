-- A pending rollback on a target in this database is executed at once, with the rights of the
-- caller. One that lives elsewhere is executed by the caller, so its statements are only built.

CREATE OR REPLACE PROCEDURE omd._settle_rollback(
    p_module_instance_id bigint,
    p_platform_code text,
    INOUT p_processing_indicator text
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $settle_rollback$
BEGIN
    PERFORM omd._claim_companions(p_module_instance_id);
    IF p_platform_code = 'POSTGRES' THEN
        CALL omd.rollback_module(p_module_instance_id);
        p_processing_indicator := 'P';
    ELSE
        -- A missing template must show now, and not after the run has ended.
        PERFORM FROM omd.build_rollback_sql(p_module_instance_id);
    END IF;
    PERFORM omd._resume_begin(p_module_instance_id);
END
$settle_rollback$;

COMMENT ON PROCEDURE omd._settle_rollback IS
'Executes the pending rollback of a Module Instance whose target is in this database and sets its '
'indicator from R to P; checks the statements of a target that lives elsewhere. Errors: OM009, '
'OM100, OM101, OM112, OM201, OM202, OM205. Locks: the instances to undo, the target rows, then '
'the Batch Instance FOR SHARE.';
GRANT EXECUTE ON PROCEDURE omd._settle_rollback TO omd_runner;
