-- This is one step of a purge, so that each transaction is short.

CREATE OR REPLACE FUNCTION omd._purge_events(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_events$
DECLARE
    v_deleted bigint;
    v_from bigint := coalesce(p_last_id, 0);
BEGIN
    SELECT CASE WHEN min(span.event_datetime) < p_before THEN max(span.event_id) END
    INTO p_last_id
    FROM (
        SELECT
            e.event_id,
            e.event_datetime
        FROM omd.event_log AS e
        WHERE e.event_id > v_from
        ORDER BY e.event_id
        LIMIT p_limit
    ) AS span;

    DELETE FROM omd.event_log AS e
    WHERE e.event_id > v_from
        AND e.event_id <= p_last_id
        AND e.event_datetime < p_before
        -- What an administrator did, a purge too, leaves a trace for a while, whatever is asked.
        AND (
            e.event_type_code <> 4
            OR e.event_datetime < statement_timestamp() - interval '90 days'
        )
        AND CASE
            WHEN e.module_instance_id <> 0 THEN NOT EXISTS (
                SELECT FROM omd.module_instance AS mi
                WHERE mi.module_instance_id = e.module_instance_id
            )
            WHEN e.batch_instance_id <> 0 THEN NOT EXISTS (
                SELECT FROM omd.batch_instance AS bi
                WHERE bi.batch_instance_id = e.batch_instance_id
            )
            ELSE TRUE
        END;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    p_deleted := p_deleted + v_deleted;
END
$purge_events$;

COMMENT ON FUNCTION omd._purge_events IS
'Deletes, among the p_limit events after the id p_last_id, those written before p_before whose '
'instance is gone or that name none, but no change by an administrator of the last 90 days. It '
'returns the last id that it looked at, NULL at the end, and adds to p_deleted. Locks: the rows it '
'deletes.';
GRANT EXECUTE ON FUNCTION omd._purge_events TO omd_admin;
