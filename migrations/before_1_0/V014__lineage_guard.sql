-- V014: a trigger that can't move the offset of its source leaves a note, and no source is ahead of
-- the clock. Applied once.

CREATE TABLE omd_lineage.note (
    note_id bigint GENERATED ALWAYS AS IDENTITY,
    topic_id integer NOT NULL,
    CONSTRAINT pk_note PRIMARY KEY (topic_id, note_id),
    CONSTRAINT fk_note_topic FOREIGN KEY (topic_id)
    REFERENCES omd_lineage.topic (topic_id) ON DELETE CASCADE
);
COMMENT ON TABLE omd_lineage.note IS
'Sources with TRIGGER that got rows while their offset was locked, or ahead of the clock. The next'
' probe looks at them, and deletes the note.';
COMMENT ON COLUMN omd_lineage.note.note_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_lineage.note.topic_id IS 'The source.';

COMMENT ON COLUMN omd_lineage.topic.pos_column IS
'The time column of the base table (of a source: its own); NULL: as the base table has it, or pos;'
' empty: none, and the position is the id alone.';
COMMENT ON COLUMN omd_lineage.topic.source_offset IS
'Where the offset of a source comes from. PROBE: a look at its newest row. CLOCK: the time, where '
'the server stamps rows when they are written. TRIGGER: omd_lineage.note_rows. HAND: '
'omd_lineage.set_offset.';
COMMENT ON TABLE omd_lineage.seen_position IS
'The newest row of each base table that was not ahead of the clock, as seen at a moment. A writer '
'that began later writes behind that row, so a plan may go up to it while the writer is at work.';

-- One row of the far future made a source look complete for ever; its next probe finds the truth.
INSERT INTO omd_lineage.note (topic_id)
SELECT t.topic_id
FROM omd_lineage.topic AS t
INNER JOIN omd_lineage.offsets AS o ON t.topic_id = o.topic_id
WHERE t.processor IS NULL AND t.source_offset = 'TRIGGER' AND o.last_ts > now();

UPDATE omd_lineage.offsets AS o SET last = NULL
FROM omd_lineage.topic AS t
WHERE
    o.topic_id = t.topic_id
    AND t.processor IS NULL
    AND t.source_offset IN ('PROBE', 'TRIGGER')
    AND o.processor IN ('PROBE', 'TRIGGER')
    AND o.last_ts > now();
