-- rollback_module and confirm_rollback have the same conditions, so they stand here once.

CREATE OR REPLACE FUNCTION omd._require_rollback(
    p_module_instance_id bigint,
    p_platform_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_rollback$
DECLARE
    v_instance record;
BEGIN
    -- The looks of a rollback must see what others have committed until then.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    SELECT mi.execution_status_code, mi.processing_indicator, m.module_code, m.platform_code
    INTO v_instance
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    WHERE mi.module_instance_id = p_module_instance_id
    FOR NO KEY UPDATE OF mi;

    IF v_instance.execution_status_code IS DISTINCT FROM 'E' THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'be rolled back');
    ELSIF v_instance.processing_indicator <> 'R' THEN
        PERFORM omd.raise_error(
            'OM103',
            jsonb_build_object(
                'module_instance_id', p_module_instance_id,
                'module_code', v_instance.module_code,
                'processing_indicator', v_instance.processing_indicator
            )
        );
    ELSIF v_instance.platform_code <> p_platform_code THEN
        PERFORM omd.raise_error(
            'OM204',
            jsonb_build_object(
                'module_code', v_instance.module_code,
                'platform_code', v_instance.platform_code,
                'expected', p_platform_code,
                'next_command', format('CALL omd.confirm_rollback(%s);', p_module_instance_id)
            )
        );
    END IF;
END
$require_rollback$;

COMMENT ON FUNCTION omd._require_rollback IS
'Raises an error unless the Module Instance executes with indicator R and its target lives on '
'p_platform_code (NULL: anywhere). Errors: OM004, OM005, OM014, OM101, OM103, OM204. Locks: the '
'instance row.';
GRANT EXECUTE ON FUNCTION omd._require_rollback TO omd_runner;
