-- V135: how far the counters have counted the events. Applied once.

DO $do$
BEGIN
    -- prepare/executing_columns.sql has done it where runs may be at work.
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = to_regclass('omd_event.setting') AND a.attname = 'counted_number'
    ) THEN
        ALTER TABLE omd_event.setting ADD COLUMN counted_number bigint NOT NULL DEFAULT 0;
        COMMENT ON COLUMN omd_event.setting.counted_number IS
        'All events up to this number are in omd_event.counter.';
    END IF;
    -- It stays for the calls that are on their way: dropped, it would be missed.
    IF to_regprocedure('omd_event._count(bigint, bigint)') IS NOT NULL THEN
        COMMENT ON FUNCTION omd_event._count(bigint, bigint) IS 'Retired.';
    END IF;
END
$do$;
UPDATE omd_event.setting AS s SET counted_number = s.event_number;
