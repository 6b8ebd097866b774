-- A run that executes may fail, so it counts like one that waits for its rollback.

CREATE OR REPLACE FUNCTION omd._require_nothing_to_undo(
    p_present omd.module,
    p_what text,
    p_because text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_nothing_to_undo$
DECLARE
    v_waiting bigint[];
BEGIN
    SELECT array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) INTO v_waiting
    FROM omd.module_instance AS mi
    WHERE mi.module_id = p_present.module_id
        AND (
            omd._awaits_rollback(
                mi.execution_status_code, mi.next_run_indicator,
                mi.rolled_back_by_module_instance_id
            )
            OR (mi.execution_status_code = 'E' AND mi.processing_indicator <> 'A')
        );
    IF v_waiting IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM111',
            jsonb_build_object(
                'module_code', p_present.module_code,
                'module_instance_ids', v_waiting,
                'table_code', p_present.table_code,
                'platform_code', p_present.platform_code,
                'insert_instance_column', p_present.insert_instance_column,
                'what', p_what,
                'because', p_because
            )
        );
    END IF;
END
$require_nothing_to_undo$;

COMMENT ON FUNCTION omd._require_nothing_to_undo IS
'Raises OM111 when the Module p_present has runs that execute or wait for their rollback, so that '
'it can get no other p_what: a rollback would p_because. Locks: none.';
