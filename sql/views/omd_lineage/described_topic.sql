-- A room that tells others about runs reads this view of lineage, and no tables.

CREATE OR REPLACE VIEW omd_lineage.described_topic AS
SELECT
    t.module_id,
    t.topic,
    t.processor,
    t.transforms,
    t.topic_id
FROM omd_lineage.topic AS t
WHERE t.module_id IS NOT NULL;

COMMENT ON VIEW omd_lineage.described_topic IS
'For rooms: the topics that are made by runs, as who tells others about these needs them.';
COMMENT ON COLUMN omd_lineage.described_topic.module_id IS 'The Module.';
COMMENT ON COLUMN omd_lineage.described_topic.topic IS 'The topic.';
COMMENT ON COLUMN omd_lineage.described_topic.processor IS
'How it is made: STEP, RELOAD or a procedure.';
COMMENT ON COLUMN omd_lineage.described_topic.transforms IS 'Its transforms, in order.';
COMMENT ON COLUMN omd_lineage.described_topic.topic_id IS 'Its number.';
