-- V135: how far the counters have counted the events. Applied once.

ALTER TABLE omd_event.setting ADD COLUMN counted_number bigint NOT NULL DEFAULT 0;
UPDATE omd_event.setting AS s SET counted_number = s.event_number;
COMMENT ON COLUMN omd_event.setting.counted_number IS
'All events up to this number are in omd_event.counter.';

-- It stays for the calls that are on their way: dropped, it would be missed.
DO $do$
BEGIN
    IF to_regprocedure('omd_event._count(bigint, bigint)') IS NOT NULL THEN
        COMMENT ON FUNCTION omd_event._count(bigint, bigint) IS 'Retired.';
    END IF;
END
$do$;
