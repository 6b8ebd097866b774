-- Tables of deliveries and facts belong to OMD, and nobody takes rows of them back but in an act.

CREATE OR REPLACE FUNCTION omd_provenance._take_back_deliveries(
    p_room text,
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_back_deliveries$
BEGIN
    PERFORM omd.require_taken_on(p_instance_array, p_recall_instance_id);
    IF p_room = 'FACTS' THEN
        RETURN QUERY SELECT t.* FROM omd_facts.take_back(
            p_instance_array, p_recall_instance_id, p_recall_id, p_reason
        ) AS t;
    ELSIF p_room = 'DELIVERY' THEN
        RETURN QUERY SELECT t.* FROM omd_delivery.take_back(
            p_instance_array, p_recall_instance_id, p_recall_id, p_reason
        ) AS t;
    END IF;
END
$take_back_deliveries$;

COMMENT ON FUNCTION omd_provenance._take_back_deliveries IS
'Takes the runs p_instance_array of the room p_room, FACTS or DELIVERY, back, for the recall '
'p_recall_id and its run p_recall_instance_id, because of p_reason. Returns the rows that went and '
'came back, per run and table. Errors: OM101: the run of the recall has not taken these on. Locks: '
'what the room takes.';
GRANT EXECUTE ON FUNCTION omd_provenance._take_back_deliveries TO omd_admin;
