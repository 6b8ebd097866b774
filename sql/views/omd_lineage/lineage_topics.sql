-- The columns are the parameters of register_topic, so that a file of topics can be compared with
-- what is registered.

CREATE OR REPLACE VIEW omd_report.lineage_topics AS
SELECT
    t.topic,
    t.depends_on,
    t.processor,
    t.transforms,
    t.engine,
    t.delay,
    t.repeat,
    t.maxstep,
    t.run_window,
    t.max_wait,
    t.before_sql,
    t.after_sql,
    t.pos_column,
    t.id_column,
    t.source_offset,
    t.reload_method,
    t.advance_when_quiet,
    t.inactive_indicator,
    t.comment,
    m.module_code,
    m.area_code,
    m.table_type_code,
    m.platform_code,
    t.merge_key,
    t.recompute_key,
    t.max_age,
    m.backoff,
    m.backoff_limit,
    m.max_failures,
    t.take_ties
FROM omd_lineage.topic AS t
LEFT JOIN omd.module AS m ON t.module_id = m.module_id;

COMMENT ON VIEW omd_report.lineage_topics IS
'Every topic as it is registered. The columns are the parameters of register_topic.';
COMMENT ON COLUMN omd_report.lineage_topics.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_topics.depends_on IS
'The tables or topics that it reads; the first is the base table.';
COMMENT ON COLUMN omd_report.lineage_topics.processor IS
'How the topic is made: STEP, RELOAD or a procedure; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.transforms IS 'Its transforms, in order.';
COMMENT ON COLUMN omd_report.lineage_topics.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_report.lineage_topics.delay IS 'Rows younger than this wait.';
COMMENT ON COLUMN omd_report.lineage_topics.repeat IS 'The least time between steps.';
COMMENT ON COLUMN omd_report.lineage_topics.maxstep IS 'The most rows of a block.';
COMMENT ON COLUMN omd_report.lineage_topics.run_window IS
'The hours in which it runs; NULL when it always may.';
COMMENT ON COLUMN omd_report.lineage_topics.max_wait IS
'After this time a step no longer waits for dependencies that lag; NULL when it always waits.';
COMMENT ON COLUMN omd_report.lineage_topics.before_sql IS 'Statements before the transforms.';
COMMENT ON COLUMN omd_report.lineage_topics.after_sql IS 'Statements after the transforms.';
COMMENT ON COLUMN omd_report.lineage_topics.pos_column IS
'The column pos of the position; NULL when none was named.';
COMMENT ON COLUMN omd_report.lineage_topics.id_column IS
'The column id of the position; NULL when none was named.';
COMMENT ON COLUMN omd_report.lineage_topics.source_offset IS
'Where the offset of a source comes from.';
COMMENT ON COLUMN omd_report.lineage_topics.reload_method IS
'How a RELOAD replaces the content.';
COMMENT ON COLUMN omd_report.lineage_topics.advance_when_quiet IS
'Whether the offset moves on when there is nothing new.';
COMMENT ON COLUMN omd_report.lineage_topics.inactive_indicator IS
'Y when each step is skipped, else N.';
COMMENT ON COLUMN omd_report.lineage_topics.comment IS
'What the topic is; NULL when nothing was said.';
COMMENT ON COLUMN omd_report.lineage_topics.module_code IS
'Its Module; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.area_code IS
'The area of its Module; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.table_type_code IS
'The table type of its Module; NULL when it has none.';
COMMENT ON COLUMN omd_report.lineage_topics.platform_code IS
'The platform of its Module; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.merge_key IS
'Rows of a block replace rows with the same values in these columns; NULL when they are inserted.';
COMMENT ON COLUMN omd_report.lineage_topics.recompute_key IS
'Rows with values of these columns are computed anew; NULL when rows are inserted.';
COMMENT ON COLUMN omd_report.lineage_topics.max_age IS
'How old the newest row of a source may be; NULL when nothing is promised.';
COMMENT ON COLUMN omd_report.lineage_topics.backoff IS
'How long it waits after a failure; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.backoff_limit IS
'The longest such wait; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.max_failures IS
'After so many failures in a row it waits for omd.retry, 0: never; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_topics.take_ties IS
'So long after it was seen first, the newest instant of a source is taken although rows of it may '
'still come; NULL: never.';
