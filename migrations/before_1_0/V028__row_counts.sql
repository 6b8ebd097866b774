-- V028: a run in the database tells discarded and rejected rows with its other counts. Applied
-- once.

-- Its parameters change: its file creates it again. A call that executes it goes on, under another
-- name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
BEGIN
    IF to_regproc('omd.tell_row_counts') IS NOT NULL THEN
        COMMENT ON FUNCTION omd.tell_row_counts IS 'Retired.';
        ALTER FUNCTION omd.tell_row_counts RENAME TO _former_tell_row_counts;
    END IF;
END
$do$;
