-- The procedure is the UPDATE that an administrator may write by hand, with the same rights, checks
-- and event.

CREATE OR REPLACE PROCEDURE omd.set_next_run_indicator(
    p_next_run_indicator text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $set_next_run_indicator$
DECLARE
    v_next_run_indicator text := omd.require_code('next run indicator', p_next_run_indicator);
BEGIN
    v_next_run_indicator := omd.require_argument('p_next_run_indicator', v_next_run_indicator);
    IF num_nonnulls(p_batch_instance_id, p_module_instance_id) <> 1 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_batch_instance_id, p_module_instance_id',
                'value', concat_ws(', ', p_batch_instance_id, p_module_instance_id),
                'expected', 'exactly one of the two'
            )
        );
    END IF;

    IF p_batch_instance_id IS NOT NULL THEN
        UPDATE omd.batch_instance AS bi SET next_run_indicator = v_next_run_indicator
        WHERE bi.batch_instance_id = p_batch_instance_id AND bi.batch_id IS NOT NULL;
        IF NOT FOUND THEN
            PERFORM omd.raise_error(
                'OM003', jsonb_build_object('batch_instance_id', p_batch_instance_id)
            );
        END IF;
    ELSE
        UPDATE omd.module_instance AS mi SET next_run_indicator = v_next_run_indicator
        WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id IS NOT NULL;
        IF NOT FOUND THEN
            PERFORM omd.raise_error(
                'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
            );
        END IF;
    END IF;
END
$set_next_run_indicator$;

COMMENT ON PROCEDURE omd.set_next_run_indicator IS
'Sets next_run_indicator (P, R or C) of either a Batch Instance or a Module Instance, with the '
'rights of the caller; a direct UPDATE does the same. Errors: OM003, OM004, OM005, OM006, OM013, '
'OM106 (R on what has nothing to roll back, P on a failure whose rollback is due). Locks: the '
'instance row. DIRECT, "Next Run Indicator".';
GRANT EXECUTE ON PROCEDURE omd.set_next_run_indicator TO omd_admin;
