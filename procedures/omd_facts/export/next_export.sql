-- The part of the kind EXPORT in omd.room_hook. What was only ordered belongs to who ordered it,
-- where nothing begins by itself; who runs the Module asks for that too.

CREATE OR REPLACE FUNCTION omd_facts.next_export(
    p_module_code text,
    OUT p_act text,
    OUT p_arguments jsonb,
    OUT p_status text,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_export$
DECLARE
    v_work record;
    v_delivery_id bigint;
BEGIN
    SELECT w.agreement_code, w.state, w.reason, w.waits_for, w.delivery_id INTO v_work
    FROM omd_facts.export_work AS w
    WHERE w.module_code = p_module_code;
    p_arguments := jsonb_build_object('agreement_code', v_work.agreement_code);
    SELECT w.p_status, w.p_detail INTO p_status, p_detail FROM omd.why_no_run(p_module_code) AS w;
    IF p_status IS NULL AND v_work.state = 'RUNNING' THEN
        p_status := 'A';
        p_detail := 'RUNNING';
    END IF;
    IF p_status IS NOT NULL THEN
        p_act := 'NOTHING';
    ELSIF v_work.state = 'READY' AND v_work.reason = 'CHANGED' THEN
        p_act := 'EXPORT';
    ELSE
        v_delivery_id := v_work.delivery_id;
        IF v_work.state <> 'READY' THEN
            SELECT x.delivery_id INTO v_delivery_id
            FROM omd_facts.export AS x
            CROSS JOIN LATERAL omd_delivery.delivery_head(x.delivery_id) AS d
            WHERE x.agreement_code = v_work.agreement_code
                AND x.exported_datetime IS NULL
                AND d.delivery_status = 'RECEIVED'
            ORDER BY x.delivery_id
            LIMIT 1;
        END IF;
        IF v_delivery_id IS NOT NULL THEN
            p_act := 'RESUME';
            p_arguments := p_arguments || jsonb_build_object('delivery_id', v_delivery_id);
        ELSE
            p_act := 'NOTHING';
            p_status := 'C';
            p_detail := coalesce(
                CASE WHEN v_work.state = 'PAUSED' THEN v_work.reason END,
                'waits for ' || v_work.waits_for,
                'there is nothing to do'
            );
        END IF;
    END IF;
END
$next_export$;

COMMENT ON FUNCTION omd_facts.next_export IS
'For rooms: Says what omd.next_act answers for the Module p_module_code of an EXPORT agreement, '
'with agreement_code in p_arguments: p_act EXPORT, a new export is due; RESUME, the export '
'delivery_id was begun, or ordered, and not ended; or NOTHING with p_status and p_detail. Errors: '
'OM002, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts.next_export TO omd_reader;
