-- The part of the kind FACTS in omd.room_hook. A load that undoes another may still wait for
-- readers, which only the begin finds out, since it closes the facts to new ones.

CREATE OR REPLACE FUNCTION omd_facts.next_load(
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
AS $next_load$
DECLARE
    v_interface omd_facts.interface;
    v_queue_id bigint;
BEGIN
    SELECT i.* INTO v_interface
    FROM omd.module_target AS m
    INNER JOIN omd_facts.interface AS i USING (module_id)
    WHERE m.module_code = p_module_code;
    p_arguments := jsonb_build_object('interface_code', v_interface.interface_code);
    SELECT w.p_status, w.p_detail INTO p_status, p_detail FROM omd.why_no_run(p_module_code) AS w;
    IF p_status IS NULL THEN
        v_queue_id := omd_delivery.next_queue_item(v_interface.interface_id);
        IF v_queue_id IS NOT NULL THEN
            p_arguments := p_arguments || jsonb_build_object(
                'delivery_id', (omd_delivery.queue_item(v_queue_id)).delivery_id
            );
        ELSIF omd.pending_rollback(v_interface.module_id) = '{}' THEN
            p_status := 'C';
            p_detail := format('nothing is queued for %s', v_interface.interface_code);
        END IF;
    END IF;
    p_act := CASE WHEN p_status IS NULL THEN 'LOAD' ELSE 'NOTHING' END;
END
$next_load$;

COMMENT ON FUNCTION omd_facts.next_load IS
'For rooms: Says what omd.next_act answers for the Module p_module_code of an interface: p_act '
'LOAD, with interface_code and, where one is queued, delivery_id in p_arguments, or NOTHING with '
'p_status and p_detail. Errors: OM002, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts.next_load TO omd_reader;
