-- The text format wants the lines of a metric together, HELP and TYPE before the values, and the
-- buckets of a histogram in their order.

CREATE OR REPLACE VIEW omd_report.prometheus AS
SELECT
    l.line,
    l.is_per_code
FROM (
    SELECT
        m.metric_name,
        m.is_per_code,
        1 AS part,
        NULL::jsonb AS labels,
        NULL::text AS sample_name,
        NULL::float8 AS bound,
        format(
            '# HELP %s %s',
            m.metric_name, replace(replace(m.help, '\', '\\'), chr(10), '\n')
        ) AS line
    FROM omd_event.metric AS m
    UNION ALL
    SELECT
        m.metric_name,
        m.is_per_code,
        2 AS part,
        NULL::jsonb AS labels,
        NULL::text AS sample_name,
        NULL::float8 AS bound,
        format('# TYPE %s %s', m.metric_name, m.metric_type) AS line
    FROM omd_event.metric AS m
    UNION ALL
    SELECT
        s.metric_name,
        s.is_per_code,
        3 AS part,
        s.labels - 'le' AS labels,
        s.sample_name,
        (s.labels ->> 'le')::float8 AS bound,
        omd_event._sample_line(s.sample_name, s.labels, s.value) AS line
    FROM omd_report.metrics AS s
) AS l
ORDER BY l.metric_name, l.part, l.labels, l.sample_name, l.bound;

COMMENT ON VIEW omd_report.prometheus IS
'The metrics in Prometheus'' text format, a row per line.';
COMMENT ON COLUMN omd_report.prometheus.line IS 'The line.';
COMMENT ON COLUMN omd_report.prometheus.is_per_code IS
'It is of a metric with a series for each code.';
