-- Steps are grouped by the hour, so that a month of steps is some hundred rows per topic.

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
'Succeeded steps and the rows that they wrote, per topic and hour.';
COMMENT ON COLUMN omd_report.lineage_throughput.topic IS 'The topic.';
COMMENT ON COLUMN omd_report.lineage_throughput.hour IS 'The hour in which the steps ended.';
COMMENT ON COLUMN omd_report.lineage_throughput.steps IS 'The number of steps.';
COMMENT ON COLUMN omd_report.lineage_throughput.rows IS 'The number of rows written.';
COMMENT ON COLUMN omd_report.lineage_throughput.max_lag IS
'The longest time that a row had waited; NULL when that is not known.';
COMMENT ON COLUMN omd_report.lineage_throughput.impatient_steps IS
'How many steps did not wait for a dependency, since max_wait was over.';
