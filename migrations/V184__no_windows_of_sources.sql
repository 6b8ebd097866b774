-- V184: nothing reads the windows of sources by this view, and nothing of 1.0.0 did. Applied once.

DO $do$
BEGIN
    IF to_regclass('omd.source_window') IS NOT NULL THEN
        DROP VIEW omd.source_window;
    END IF;
END
$do$;
