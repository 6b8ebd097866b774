-- A sink that events are taken from in this way, because it was inactive or slow for too long, goes
-- on with the oldest that is kept.

CREATE OR REPLACE FUNCTION omd_event._purge_step()
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_step$
DECLARE
    v_sink omd_event.sink;
    v_waits_for bigint;
    v_upto bigint;
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
    SELECT max(e.event_number) INTO v_upto
    FROM (
        SELECT o.event_number, o.published_datetime
        FROM omd_event.event AS o
        ORDER BY o.event_number
        LIMIT 5000
    ) AS e
    CROSS JOIN omd_event.setting AS s
    WHERE e.published_datetime < clock_timestamp() - s.keep
        AND (
            v_waits_for IS NULL
            OR e.event_number <= v_waits_for
            OR e.published_datetime < clock_timestamp() - 2 * s.keep
        );
    IF v_upto IS NULL THEN
        RETURN 0::bigint;
    END IF;
    UPDATE omd_event.sink AS s SET
        purged_unsent = s.purged_unsent + (
            SELECT count(*) FROM omd_event.event AS e
            WHERE e.event_number > s.event_number
                AND e.event_number <= v_upto
                AND omd_event._is_wanted(s, e)
        ),
        event_number = v_upto,
        taken_upto = greatest(s.taken_upto, v_upto)
    WHERE s.event_number < v_upto;
    DELETE FROM omd_event.refused_event AS r WHERE r.event_number <= v_upto;
    DELETE FROM omd_event.event AS e WHERE e.event_number <= v_upto;
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    RETURN v_deleted;
END
$purge_step$;

COMMENT ON FUNCTION omd_event._purge_step IS
'Deletes at most 5,000 of the oldest events that need not be kept, and returns how many. Locks: '
'the rows of the sinks, the rows that it deletes.';
REVOKE ALL ON FUNCTION omd_event._purge_step FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_event._purge_step TO omd_admin;
