-- A run that was taken again is rolled back, and of a reader that replaces everything a later run
-- is enough. So nobody has to say that it is done.

CREATE OR REPLACE VIEW omd.standing_read AS
SELECT
    u.undone_read_id,
    u.undone_instance_id,
    u.noted_at,
    u.from_datetime,
    u.module_id,
    u.table_code,
    u.source_code,
    u.reader,
    u.way_out
FROM omd.undone_read AS u
WHERE
    omd.first_read(
        u.module_id, u.undone_instance_id, u.last_instance_id, u.from_datetime, u.has_positions
    ) IS NOT NULL
    -- The first such run is looked for in the order of the index: with EXISTS the planner would
    -- join with all instances.
    AND NOT (
        u.is_whole
        AND (
            SELECT mi.module_instance_id
            FROM omd.module_instance AS mi
            WHERE
                mi.module_id BETWEEN u.module_id AND u.module_id
                AND mi.module_instance_id > u.last_instance_id
                AND mi.execution_status_code = 'S'
                AND mi.rolled_back_by_module_instance_id IS NULL
            ORDER BY mi.module_id, mi.module_instance_id
            LIMIT 1
        ) IS NOT NULL
    );

COMMENT ON VIEW omd.standing_read IS
'For rooms: who has read rows that were undone later, and has not made his own again.';
COMMENT ON COLUMN omd.standing_read.undone_read_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.standing_read.undone_instance_id IS
'The oldest Module Instance that was undone.';
COMMENT ON COLUMN omd.standing_read.noted_at IS 'When it was undone.';
COMMENT ON COLUMN omd.standing_read.from_datetime IS
'From which position on rows were undone; NULL: all may have been.';
COMMENT ON COLUMN omd.standing_read.module_id IS 'The Module of the reader.';
COMMENT ON COLUMN omd.standing_read.table_code IS 'The table whose rows were undone.';
COMMENT ON COLUMN omd.standing_read.source_code IS
'The table or view by which the reader reads it.';
COMMENT ON COLUMN omd.standing_read.reader IS 'The reader, by its name.';
COMMENT ON COLUMN omd.standing_read.way_out IS
'The call that makes the rows of the reader again.';
