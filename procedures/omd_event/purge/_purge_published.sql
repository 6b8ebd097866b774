-- What is deleted is what the setting keep of this room says; p_before is not looked at. The costs
-- of runs are looked at as a whole, so once.

CREATE OR REPLACE FUNCTION omd_event._purge_published(
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
AS $purge_published$
DECLARE
    v_sink omd_event.sink;
    v_waits_for bigint;
    v_deleted bigint;
BEGIN
    IF EXISTS (SELECT FROM omd_event.setting AS s WHERE s.counted_number < s.event_number) THEN
        PERFORM omd_event._count_published();
    END IF;
    -- In the order of their codes, before a sender moves one.
    FOR v_sink IN SELECT s.* FROM omd_event.sink AS s ORDER BY s.sink_code FOR NO KEY UPDATE LOOP
        v_waits_for := least(
            v_waits_for,
            CASE v_sink.inactive_indicator WHEN 'N' THEN v_sink.event_number END
        );
    END LOOP;
    SELECT max(e.event_number) INTO p_last_id
    FROM (
        SELECT o.event_number, o.published_datetime
        FROM omd_event.event AS o
        ORDER BY o.event_number
        LIMIT p_limit
    ) AS e
    CROSS JOIN omd_event.setting AS s
    WHERE e.published_datetime < clock_timestamp() - s.keep
        AND (
            v_waits_for IS NULL
            OR e.event_number <= v_waits_for
            OR e.published_datetime < clock_timestamp() - 2 * s.keep
        );
    IF p_last_id IS NULL THEN
        PERFORM omd_event._purge_costs();
        RETURN;
    END IF;
    UPDATE omd_event.sink AS s SET
        purged_unsent = s.purged_unsent + (
            SELECT count(*) FROM omd_event.event AS e
            WHERE e.event_number > s.event_number
                AND e.event_number <= p_last_id
                AND omd_event._is_wanted(s, e)
        ),
        event_number = p_last_id,
        taken_upto = greatest(s.taken_upto, p_last_id)
    WHERE s.event_number < p_last_id;
    DELETE FROM omd_event.refused_event AS r WHERE r.event_number <= p_last_id;
    DELETE FROM omd_event.event AS e WHERE e.event_number <= p_last_id;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    p_deleted := p_deleted + v_deleted;
END
$purge_published$;

COMMENT ON FUNCTION omd_event._purge_published IS
'Deletes at most p_limit of the oldest events that are older than the setting keep (30 days '
'at first) and that no active sink waits for, or that are twice as old; at the end the costs of '
'purged runs. A sink that had not got them goes on with the oldest that is kept, and problems '
'says so. It returns the last event in p_last_id, NULL at the end, and adds to p_deleted. Locks: '
'the rows of the sinks, the rows that it deletes.';
GRANT EXECUTE ON FUNCTION omd_event._purge_published TO omd_admin;
