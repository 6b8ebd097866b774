-- A rollback ends in the same way whether OMD has executed its statements or somebody else has. The
-- rows are counted with the rights of the caller.

CREATE OR REPLACE PROCEDURE omd._confirm_rollback(
    p_module_instance_id bigint,
    p_checks jsonb
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $confirm_rollback$
DECLARE
    v_check jsonb;
    v_left bigint;
BEGIN
    FOR v_place IN 0 .. jsonb_array_length(p_checks) - 1 LOOP
        v_check := p_checks -> v_place;
        EXECUTE v_check ->> 'statement' INTO v_left;
        IF v_left > 0 THEN
            PERFORM omd._refuse_left_rows(
                v_check ->> 'module_code',
                v_check ->> 'table_code',
                translate(v_check ->> 'instance_array', '[]', '{}')::bigint[],
                v_left
            );
        END IF;
    END LOOP;
    PERFORM omd._mark_rolled_back(p_module_instance_id);
END
$confirm_rollback$;

COMMENT ON PROCEDURE omd._confirm_rollback IS
'Marks the instances that the Module Instance had to undo as undone, once the statements are '
'executed and no row of them is left. p_checks: a JSON array; of each target module_code, '
'table_code, instance_array, and statement, which counts the rows. Errors: OM112: rows are left. '
'Locks: the instances undone.';
GRANT EXECUTE ON PROCEDURE omd._confirm_rollback TO omd_runner;
