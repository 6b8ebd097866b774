-- By the hour, so that a month of steps is some hundred rows per topic.

CREATE OR REPLACE VIEW omd_report.lineage_throughput AS
SELECT
    l.topic,
    date_trunc('hour', l.ts) AS hour,
    count(*) AS steps,
    sum(l.rows)::bigint AS rows,
    max(l.max_lag) AS max_lag,
    count(l.waited_for) AS impatient_steps
FROM omd_lineage.log AS l
GROUP BY l.topic, date_trunc('hour', l.ts);

COMMENT ON VIEW omd_report.lineage_throughput IS
'Steps that ended well and rows that they wrote, per topic and hour.';
COMMENT ON COLUMN omd_report.lineage_throughput.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_throughput.hour IS 'The hour in which they ended.';
COMMENT ON COLUMN omd_report.lineage_throughput.steps IS 'Steps.';
COMMENT ON COLUMN omd_report.lineage_throughput.rows IS 'Rows written.';
COMMENT ON COLUMN omd_report.lineage_throughput.max_lag IS
'The longest that a row had waited; NULL: not known.';
COMMENT ON COLUMN omd_report.lineage_throughput.impatient_steps IS
'Steps that went without a dependency, since max_wait was over.';
