-- The text format wants the lines of a metric together, HELP and TYPE before the values, and the
-- buckets of a histogram in their order. A label may hold anything: the format asks for a backslash
-- before three signs. A function for a line would double the time of 30,000 lines.

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
        CASE WHEN s.metric_type = 'histogram' THEN s.labels - 'le' END AS labels,
        CASE WHEN s.metric_type = 'histogram' THEN s.sample_name END AS sample_name,
        CASE WHEN s.metric_type = 'histogram' THEN (s.labels ->> 'le')::float8 END AS bound,
        s.sample_name
        || coalesce(
            '{'
            || (
                SELECT
                    string_agg(
                        k.key || '="'
                        || replace(
                            replace(replace(k.value, '\', '\\'), '"', '\"'), chr(10), '\n'
                        )
                        || '"',
                        ','
                    )
                FROM jsonb_each_text(s.labels) AS k
            )
            || '}',
            ''
        )
        || ' '
        || s.value AS line
    FROM omd_report.metrics AS s
) AS l
ORDER BY
    l.metric_name COLLATE "C" ASC,
    l.part ASC,
    l.labels ASC,
    l.sample_name ASC,
    l.bound ASC,
    l.line COLLATE "C" ASC;

COMMENT ON VIEW omd_report.prometheus IS
'The metrics in Prometheus'' text format, a row per line.';
COMMENT ON COLUMN omd_report.prometheus.line IS 'The line.';
COMMENT ON COLUMN omd_report.prometheus.is_per_code IS
'It is of a metric with a series for each code.';
