-- Few Modules have a state, and few reads of rows that were undone stand; of Batches each is two
-- looks into an index. A part of others fails with them, and a Batch that a Module stands for is
-- that Module.

CREATE OR REPLACE VIEW omd.problem_list AS
SELECT
    CASE
        WHEN p.state = 'FAILED' AND h.start_hint IS NULL THEN 'GIVEN_UP'
        ELSE 'LAST_RUN_FAILED'
    END AS problem_code,
    'ERROR' AS severity,
    'control' AS room,
    'MODULE' AS object_kind,
    m.module_code AS object_key,
    format('Module %s (%s)', m.module_code, m.module_kind_code) AS subject,
    p.failed_since AS since,
    concat_ws(
        ' ',
        CASE
            WHEN p.failures = 1 THEN 'It has failed once since its last success'
            ELSE format('It has failed %s times since its last success', p.failures)
        END
        || CASE
            WHEN p.state = 'FAILED' AND h.start_hint IS NULL THEN ', and waits for omd.retry:'
            ELSE ':'
        END,
        p.last_problem
    ) AS text,
    CASE
        WHEN r.module_instance_id IS NOT NULL
            THEN
                format(
                    'Wait: Module Instance %1$s executes it again. Who must end it: omd end run:'
                    '%1$s',
                    r.module_instance_id
                )
        WHEN h.start_hint IS NOT NULL THEN h.start_hint
        WHEN p.state = 'FAILED' THEN 'omd retry ' || omd.shell_argument(m.module_code)
        ELSE 'omd run ' || omd.shell_argument(m.module_code)
    END AS way_out
FROM omd.module_pause AS p
INNER JOIN omd.module AS m ON p.module_id = m.module_id
CROSS JOIN LATERAL omd.start_hint(m.module_id) AS h (start_hint)
-- OFFSET 0: nobody looks what executes when nothing has failed.
LEFT JOIN LATERAL (
    SELECT n.module_instance_id
    FROM omd.running_modules() AS n
    WHERE n.module_id = p.module_id
    ORDER BY n.module_instance_id
    OFFSET 0
) AS r ON TRUE
WHERE p.failures > 0 AND NOT p.is_settled AND m.module_kind_code <> 'PART'
UNION ALL
SELECT
    'LAST_RUN_FAILED' AS problem_code,
    'ERROR' AS severity,
    'control' AS room,
    'BATCH' AS object_kind,
    bi.batch_code AS object_key,
    'Batch ' || bi.batch_code AS subject,
    bi.end_datetime AS since,
    format('Its last run, Batch Instance %s, failed.', bi.batch_instance_id) AS text,
    'omd run ' || omd.shell_argument('batch:' || bi.batch_code) AS way_out
FROM omd.failed_batch AS bi
WHERE
    NOT EXISTS (
        SELECT FROM omd.module AS m
        INNER JOIN omd.module_kind AS k ON m.module_kind_code = k.module_kind_code
        WHERE m.module_code = bi.batch_code AND k.is_batch
    )
UNION ALL
SELECT
    'UNDONE_READ' AS problem_code,
    'WARNING' AS severity,
    'control' AS room,
    'MODULE' AS object_kind,
    m.module_code AS object_key,
    format('Module %s (%s)', m.module_code, m.module_kind_code) AS subject,
    min(r.noted_at) AS since,
    format('It has read rows of %s that were undone later.', r.source_code) AS text,
    string_agg(DISTINCT r.way_out, ' ' ORDER BY r.way_out) AS way_out
FROM omd.standing_read AS r
INNER JOIN omd.module AS m ON r.module_id = m.module_id
-- Who goes by the changes of an interface meets the undo itself as the next change, and the facts
-- know who has read what was undone.
WHERE
    NOT EXISTS (
        SELECT FROM omd.source_reader AS k
        INNER JOIN omd.source AS s ON k.source_code = s.source_code
        WHERE
            k.module_id = r.module_id
            AND k.table_code = r.source_code
            AND s.source_kind_code = 'FACTS'
    )
GROUP BY m.module_code, m.module_kind_code, r.source_code
UNION ALL
-- What was late in a Batch is late with it, so its Modules are not named too.
SELECT
    'NOT_RUN' AS problem_code,
    'WARNING' AS severity,
    'control' AS room,
    'BATCH' AS object_kind,
    o.batch_code AS object_key,
    'Batch ' || o.batch_code AS subject,
    o.since_datetime AS since,
    CASE
        WHEN o.batch_instance_id IS NULL
            THEN format('It has never run, and its frequency is %s.', o.frequency_code)
        ELSE
            format(
                'It has not run for two intervals of its frequency %s; its last run is Batch '
                'Instance %s.',
                o.frequency_code, o.batch_instance_id
            )
    END AS text,
    'omd run ' || omd.shell_argument('batch:' || o.batch_code) AS way_out
FROM omd.overdue_batch AS o
UNION ALL
SELECT
    'LEASE_EXPIRED' AS problem_code,
    'WARNING' AS severity,
    'control' AS room,
    l.instance_type AS object_kind,
    l.code AS object_key,
    format('%s %s', initcap(l.instance_type), l.code) AS subject,
    l.since_datetime AS since,
    format(
        'The lease of %s Instance %s has expired: its run is dead.',
        initcap(l.instance_type), l.instance_id
    ) AS text,
    'CALL omd.reap_expired_instances();' AS way_out
FROM omd.expired_lease AS l
UNION ALL
-- What has failed is undone by the next begin anyway; here somebody has asked for it.
SELECT
    'ROLLBACK_PENDING' AS problem_code,
    'WARNING' AS severity,
    'control' AS room,
    'MODULE' AS object_kind,
    m.module_code AS object_key,
    format('Module %s (%s)', m.module_code, m.module_kind_code) AS subject,
    min(mi.end_datetime) AS since,
    format(
        '%s of its runs wait%s to be undone by its next begin; the first is Module Instance %s.',
        count(*), CASE count(*) WHEN 1 THEN 's' ELSE '' END, min(mi.module_instance_id)
    ) AS text,
    coalesce(
        omd.start_hint(m.module_id), 'omd run ' || omd.shell_argument(m.module_code)
    ) AS way_out
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE
    omd._awaits_rollback(
        mi.execution_status_code, mi.next_run_indicator, mi.rolled_back_by_module_instance_id
    )
    AND mi.execution_status_code <> 'F'
    AND m.module_kind_code <> 'PART'
GROUP BY m.module_id, m.module_code, m.module_kind_code
UNION ALL
SELECT
    'ROWS_OF_DEAD_RUN' AS problem_code,
    'WARNING' AS severity,
    'control' AS room,
    'MODULE' AS object_kind,
    m.module_code AS object_key,
    format('Module %s (%s)', m.module_code, m.module_kind_code) AS subject,
    l.found_datetime AS since,
    format(
        '%s of Module Instance %s, which was declared dead, %s in %s: its process wrote on after '
        'its rollback, and not by run.connect() or with omd.fence.',
        CASE
            WHEN l.row_count = 1 THEN '1 row'
            WHEN l.row_count < 1000 THEN format('%s rows', l.row_count)
            ELSE '1,000 rows or more'
        END,
        l.module_instance_id,
        CASE l.row_count WHEN 1 THEN 'is' ELSE 'are' END,
        m.table_code
    ) AS text,
    CASE
        WHEN mi.rolled_back_by_module_instance_id IS NOT NULL
            THEN
                format(
                    'CALL omd.set_next_run_indicator(''R'', p_module_instance_id => %s);',
                    l.module_instance_id
                )
        ELSE
            coalesce(
                omd.start_hint(m.module_id),
                'omd run ' || omd.shell_argument(m.module_code)
            )
    END AS way_out
FROM omd.left_rows AS l
INNER JOIN omd.module AS m ON l.module_id = m.module_id
-- OFFSET 0: each looks its own run up, also while nobody has counted the few rows.
CROSS JOIN LATERAL (
    SELECT i.rolled_back_by_module_instance_id
    FROM omd.module_instance AS i
    WHERE i.module_instance_id = l.module_instance_id
    ORDER BY i.module_instance_id
    OFFSET 0
) AS mi;

COMMENT ON VIEW omd.problem_list IS
'For rooms: the Modules and Batches that somebody should look at, as omd_report.problems shows '
'them.';
COMMENT ON COLUMN omd.problem_list.problem_code IS
'GIVEN_UP: the Module has failed too often. LAST_RUN_FAILED: it has failed since its last success, '
'or the last real run of the Batch has. UNDONE_READ: it has read rows that were undone later. '
'NOT_RUN: a Batch has not run for two intervals of its frequency. LEASE_EXPIRED: a run of it is '
'dead. ROLLBACK_PENDING: a run is to be undone by the next begin, and it has not failed. '
'ROWS_OF_DEAD_RUN: a run that was declared dead and rolled back has rows in the target.';
COMMENT ON COLUMN omd.problem_list.severity IS 'ERROR or WARNING.';
COMMENT ON COLUMN omd.problem_list.room IS 'The room that says so.';
COMMENT ON COLUMN omd.problem_list.object_kind IS 'MODULE or BATCH.';
COMMENT ON COLUMN omd.problem_list.object_key IS 'Its code.';
COMMENT ON COLUMN omd.problem_list.subject IS 'What it is about, in words.';
COMMENT ON COLUMN omd.problem_list.since IS 'Since when; NULL when that is not known.';
COMMENT ON COLUMN omd.problem_list.text IS
'What is wrong; of a failure the whole text for who has omd_data_reader, else no value of a row.';
COMMENT ON COLUMN omd.problem_list.way_out IS
'What mends it; while the Module executes again, the run that does it.';
