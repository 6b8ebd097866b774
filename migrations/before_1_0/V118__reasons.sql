-- V118: process control: why somebody did what the event log says. Applied once.

-- An upgrade has added the column before (sql/prepare/event_columns.sql).
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd.event_log'::regclass AND a.attname = 'reason'
    ) THEN
        ALTER TABLE omd.event_log ADD COLUMN reason text;
        ALTER TABLE omd.event_log
        ALTER COLUMN reason SET DEFAULT nullif(current_setting('omd.reason', TRUE), '');
    END IF;
END
$do$;
COMMENT ON COLUMN omd.event_log.reason IS
'Why, as the setting omd.reason of the session says; NULL: it says nothing.';
