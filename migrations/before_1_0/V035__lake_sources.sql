-- V035: sources of lineage that are lake tables. An upgrade finds the check there already, from
-- sql/prepare/lineage_columns.sql, which says why. Applied once.

DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_constraint AS c
        WHERE c.conrelid = 'omd_lineage.topic'::regclass
            AND c.conname = 'ck_topic_source_offset'
            AND pg_get_constraintdef(c.oid) LIKE '%LAKE%'
    ) THEN
        ALTER TABLE omd_lineage.topic
        DROP CONSTRAINT ck_topic_source_offset,
        ADD CONSTRAINT ck_topic_source_offset CHECK (
            source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND', 'LAKE')
        );
    END IF;
END
$do$;

COMMENT ON COLUMN omd_lineage.topic.source_offset IS
'Where the offset of a source comes from. PROBE: a look at its newest row. CLOCK: the time, where '
'the server stamps rows when they are written. TRIGGER: omd_lineage.note_rows. HAND: '
'omd_lineage.set_offset. LAKE: the commits of a lake table.';
