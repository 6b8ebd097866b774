-- The rows were counted when they were applied, and what was counted is what is loaded. An item
-- that a superuser has made by hand may have no counts.

CREATE OR REPLACE FUNCTION omd_delivery.require_delta(
    p_delivery_id bigint,
    p_entity_id integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $require_delta$
DECLARE
    v_item record;
    v_new bigint;
    v_changed bigint;
    v_deleted bigint;
BEGIN
    SELECT q.queue_id, e.entity_code, q.row_counts -> e.entity_code AS counts INTO v_item
    FROM omd_delivery.delta_queue AS q
    INNER JOIN omd_delivery.entity AS e ON e.entity_id = p_entity_id
    WHERE q.delivery_id = p_delivery_id;
    EXECUTE format(
        $sql$
        SELECT
            count(*) FILTER (WHERE d.acm_record_ind = 'N'),
            count(*) FILTER (WHERE d.acm_record_ind = 'A'),
            count(*) FILTER (WHERE d.acm_record_ind = 'R')
        FROM %s AS d
        WHERE d.delivery_id = $1
        $sql$,
        (omd_delivery._entity_sql(p_entity_id)).delta_table
    )
    INTO v_new, v_changed, v_deleted
    USING p_delivery_id;
    IF v_item.counts IS NOT NULL AND (v_new, v_changed, v_deleted) IS DISTINCT FROM (
        coalesce((v_item.counts ->> 'N')::bigint, 0),
        coalesce((v_item.counts ->> 'A')::bigint, 0),
        coalesce((v_item.counts ->> 'R')::bigint, 0)
    ) THEN
        PERFORM omd_delivery._raise_item(
            v_item.queue_id,
            format(
                'the delta of %s has not the rows that were accepted: %s N, %s A, %s R are there, '
                'and the item says %s',
                v_item.entity_code, v_new, v_changed, v_deleted, v_item.counts
            )
        );
    END IF;
    RETURN v_new + v_changed + v_deleted;
END
$require_delta$;

COMMENT ON FUNCTION omd_delivery.require_delta IS
'For rooms: Returns how many rows the delta of the accepted delivery p_delivery_id has for the '
'entity p_entity_id, as many as row_counts of its item says. Errors: OM135: it has others. Locks: '
'none.';
