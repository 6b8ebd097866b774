-- Stage 2 sees what stage 1 has left, and what was decided stays.

CREATE OR REPLACE FUNCTION omd_delivery._require_open_stage(
    p_delivery omd_delivery.delivery,
    p_stage integer,
    p_action text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_open_stage$
DECLARE
    v_decided bigint;
BEGIN
    PERFORM omd_delivery._require_event(p_delivery, 'stage_verdict', p_action);
    PERFORM omd_delivery._require_run(p_delivery);
    SELECT count(*) INTO v_decided
    FROM omd_delivery.stage_result AS s
    WHERE s.delivery_id = p_delivery.delivery_id AND s.attempt = p_delivery.attempt;
    IF p_stage NOT IN (1, 2) THEN
        PERFORM omd_delivery._raise_argument('p_stage', p_stage::text, 'it must be 1 or 2');
    ELSIF v_decided <> p_stage - 1 THEN
        PERFORM omd.raise_error(
            'OM130',
            jsonb_build_object(
                'delivery_id', p_delivery.delivery_id,
                'delivery_status', p_delivery.delivery_status,
                'next_command', format(
                    'SELECT * FROM omd_delivery.delivery_event WHERE delivery_id = %s;',
                    p_delivery.delivery_id
                ),
                'action', format(
                    '%s in stage %s after the verdict on %s stages', p_action, p_stage, v_decided
                )
            )
        );
    END IF;
END
$require_open_stage$;

COMMENT ON FUNCTION omd_delivery._require_open_stage IS
'Refuses p_action (in words) unless p_stage is the next stage of the newest run of p_delivery. '
'Errors: OM036: p_stage is not 1 or 2; OM130: it is not the next one, or the delivery is in '
'another status; OM132: the run has ended. Locks: none.';
