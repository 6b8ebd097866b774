-- Twenty counters move in a round, and beside a transaction that sleeps each keeps its former
-- versions: 12,000 rounds of two events made a round thirty times slower. So publish counts only
-- when 256 events have come together, and until then omd_report.metrics adds what is not counted.
-- Nobody else counts meanwhile: who calls it holds the row of the publisher.

CREATE OR REPLACE FUNCTION omd_event._count_published()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $count_published$
BEGIN
    PERFORM FROM omd_event.setting AS s FOR NO KEY UPDATE;
    INSERT INTO omd_event.counter AS c (metric_name, label_key, sample_name, labels, value)
    SELECT
        u.metric_name,
        sha256(convert_to(u.sample_name || u.labels::text, 'UTF8')),
        u.sample_name,
        u.labels,
        u.value
    FROM omd_event.uncounted AS u
    ON CONFLICT (metric_name, label_key) DO UPDATE SET
        value = CASE c.metric_name
            WHEN 'omd_module_last_success_timestamp_seconds'
                THEN greatest(c.value, excluded.value)
            ELSE c.value + excluded.value
        END;
    UPDATE omd_event.setting AS s SET counted_number = s.event_number;
END
$count_published$;

COMMENT ON FUNCTION omd_event._count_published IS
'Adds the published events that are not counted yet to the counters. Locks: the row of the '
'publisher; the counters that move.';
