-- A topic without a dependency has a row too; otherwise a drawn graph would lack it.

CREATE OR REPLACE VIEW omd_report.lineage_graph AS
SELECT
    t.topic,
    t.table_code,
    t.processor,
    t.engine,
    d.ordinal,
    d.depends_on,
    s.topic AS source_topic
FROM omd_lineage.topic AS t
LEFT JOIN omd_lineage.dependency AS d ON t.topic_id = d.topic_id
LEFT JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id;

COMMENT ON VIEW omd_report.lineage_graph IS
'For the driver: Topics and what they depend on, with one row per dependency.';
COMMENT ON COLUMN omd_report.lineage_graph.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_graph.table_code IS 'Its table.';
COMMENT ON COLUMN omd_report.lineage_graph.processor IS
'How the topic is made; NULL when it is a source.';
COMMENT ON COLUMN omd_report.lineage_graph.engine IS 'POSTGRES or SPARK.';
COMMENT ON COLUMN omd_report.lineage_graph.ordinal IS
'The place of the dependency, where 1 is the base table; NULL when the topic depends on nothing.';
COMMENT ON COLUMN omd_report.lineage_graph.depends_on IS
'The dependency as it was registered; NULL when the topic depends on nothing.';
COMMENT ON COLUMN omd_report.lineage_graph.source_topic IS
'A topic that makes the dependency; NULL when none does.';
