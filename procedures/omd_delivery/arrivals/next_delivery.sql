-- The part of the kind DELIVERY in omd.room_hook. What each state means stands in
-- omd_delivery.delivery_work. What has arrived since the last look is seen by a look alone, so
-- where it is time to look there is something to do.

CREATE OR REPLACE FUNCTION omd_delivery.next_delivery(
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
AS $next_delivery$
DECLARE
    v_work record;
    v_place record;
BEGIN
    SELECT w.* INTO v_work
    FROM omd_delivery.delivery_work AS w
    WHERE w.batch_code = p_module_code;
    SELECT
        a.arrival ->> 'location' AS location,
        l.agreement_id IS NOT NULL AS is_known,
        l.agreement_id IS NOT NULL
        AND omd_delivery._look_is_due(
            l.looked_datetime, omd_delivery._arrival_terms(a.arrival)
        ) AS is_due
    INTO v_place
    FROM omd_delivery.agreement AS a
    LEFT JOIN omd_delivery.arrival_location AS l
        ON a.agreement_id = l.agreement_id AND a.arrival IS NOT NULL
    WHERE a.agreement_code = v_work.agreement_code;
    p_arguments := jsonb_strip_nulls(
        jsonb_build_object(
            'agreement_code', v_work.agreement_code,
            'location', v_place.location,
            'folder', v_work.folder,
            'delivery_id', v_work.delivery_id,
            'is_look_due', v_place.is_due,
            'recall_id', CASE v_work.what WHEN 'RECALLED' THEN v_work.recall_id END
        )
    );
    SELECT w.p_status, w.p_detail INTO p_status, p_detail FROM omd.why_no_run(p_module_code) AS w;
    IF p_status IS NOT NULL THEN
        p_act := 'NOTHING';
    ELSIF v_work.what = 'RUNNING' THEN
        p_act := 'NOTHING';
        p_status := 'A';
        p_detail := format('delivery %s runs', v_work.delivery_id);
    ELSIF v_work.what = 'INACTIVE' THEN
        p_act := 'NOTHING';
        p_status := 'C';
        p_detail := 'INACTIVE';
    ELSIF v_work.what = 'RESUME' THEN
        p_act := 'RESUME';
    ELSIF v_work.what IN ('RECALLED', 'ARRIVED') OR (v_place.is_due AND v_work.what <> 'BY HAND')
    THEN
        p_act := 'DELIVER';
    ELSIF v_work.what = 'BY HAND' THEN
        p_act := 'BY_HAND';
        p_status := CASE WHEN v_place.is_known THEN 'C' END;
        p_detail := format('nothing says where the data of delivery %s is', v_work.delivery_id);
        p_arguments := p_arguments || jsonb_build_object(
            'hint',
            format('control.delivery.deliver(delivery_id=%s, files=''folder/'')', v_work.delivery_id)
        );
    ELSIF v_work.what = 'TENANT' THEN
        p_act := 'BY_HAND';
        p_status := 'C';
        p_detail := 'waits for ' || v_work.waits_for;
    ELSE
        p_act := 'NOTHING';
        p_status := CASE
            WHEN v_work.what IN ('OTHER', 'UNPERSISTED', 'TURN')
                OR (v_work.what = 'BEHIND' AND v_work.delivery_id IS NOT NULL)
                THEN 'A'
            ELSE 'C'
        END;
        p_detail := coalesce('waits for ' || v_work.waits_for, 'there is nothing to do');
    END IF;
END
$next_delivery$;

COMMENT ON FUNCTION omd_delivery.next_delivery IS
'For rooms: Says what omd.next_act answers for the Module p_module_code of an agreement of the '
'layer LVL, with agreement_code and, where there are any, location, folder, delivery_id and '
'is_look_due in p_arguments: p_act RESUME, that delivery has not ended, or its folder is still to '
'be moved; DELIVER, one is to be taken, of recall_id where a recall makes it come again; BY_HAND, '
'its tenant must bring the data, as hint says; or NOTHING with p_status and p_detail. Errors: '
'OM002, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.next_delivery TO omd_reader;
