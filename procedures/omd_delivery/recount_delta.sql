-- What was counted is what is loaded (require_delta), so rows that were erased must not count.

CREATE OR REPLACE FUNCTION omd_delivery.recount_delta(
    p_delivery_id bigint,
    p_entity_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recount_delta$
DECLARE
    v_counts jsonb;
BEGIN
    EXECUTE format(
        $sql$
        SELECT jsonb_build_object(
            'N', count(*) FILTER (WHERE d.acm_record_ind = 'N'),
            'A', count(*) FILTER (WHERE d.acm_record_ind = 'A'),
            'R', count(*) FILTER (WHERE d.acm_record_ind = 'R')
        )
        FROM %s AS d
        WHERE d.delivery_id = $1
        $sql$,
        (omd_delivery._entity_sql(p_entity_id)).delta_table
    )
    INTO v_counts
    USING p_delivery_id;
    UPDATE omd_delivery.delta_queue AS q SET
        row_counts = q.row_counts || jsonb_build_object(e.entity_code, v_counts)
    FROM omd_delivery.entity AS e
    WHERE q.delivery_id = p_delivery_id
        AND e.entity_id = p_entity_id
        AND q.row_counts ? e.entity_code;
END
$recount_delta$;

COMMENT ON FUNCTION omd_delivery.recount_delta IS
'For rooms: Counts the delta of the accepted delivery p_delivery_id for the entity p_entity_id '
'again, when rows of it were erased, so that its item can be loaded. Locks: the item.';
REVOKE ALL ON FUNCTION omd_delivery.recount_delta FROM PUBLIC;
