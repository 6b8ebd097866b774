-- Rows that were removed physically can't come back; what was written through views since stands on
-- the rows of the load; and without the delta nobody can load it again.

CREATE OR REPLACE FUNCTION omd_facts._recall_problem(
    p_load omd_facts.load_log
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_problem$
DECLARE
    v_written_at timestamptz;
BEGIN
    IF (omd_delivery.queue_item(p_load.queue_id)).delete_type = 'PHYSICAL' THEN
        RETURN format('PHYSICAL: delivery %s deletes physically', p_load.delivery_id);
    END IF;
    SELECT max(t.transaction_datetime) INTO v_written_at
    FROM omd_facts.transaction_log AS t
    WHERE t.interface_id = p_load.interface_id
        AND t.transaction_datetime >= p_load.loaded_datetime;
    RETURN CASE
        WHEN v_written_at IS NOT NULL
            THEN format('LATER_WRITES: rows were written through views at %s', v_written_at)
        WHEN omd_delivery.is_purged(p_load.delivery_id)
            THEN format('PURGED: the deltas of delivery %s were purged', p_load.delivery_id)
    END;
END
$recall_problem$;

COMMENT ON FUNCTION omd_facts._recall_problem IS
'Returns why a recall can''t take p_load back; NULL: it can. Locks: none.';
