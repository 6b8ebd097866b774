-- What a purge would delete is counted up to 1,000 rows a table, so it costs little however old
-- the history is. Without a keep the count is that of 90 days, which is only an example.

CREATE OR REPLACE VIEW omd_report.history AS
SELECT
    h.schema_name,
    h.table_code,
    p.is_on AND (p.keep IS NOT NULL OR NOT h.needs_keep) AS is_purged,
    p.keep,
    h.needs_keep,
    h.old_rows,
    CASE WHEN p.is_on THEN p.next_time END AS next_time,
    format(
        'CALL omd_dispatch.register_schedule(''omd.purge'', p_payload => ''{"keep": "%s"}'', '
        'p_inactive_indicator => ''N'')',
        coalesce(p.keep, interval '90 days')
    ) AS command
FROM (
    SELECT
        coalesce(bool_or(s.inactive_indicator = 'N'), FALSE) AS is_on,
        min(s.next_time) AS next_time,
        min((s.payload ->> 'keep')::interval) AS keep
    FROM omd_dispatch.task_schedule AS s
    WHERE s.schedule_code = 'omd.purge'
) AS p
CROSS JOIN LATERAL omd._old_history(
    statement_timestamp() - coalesce(p.keep, interval '90 days')
) AS h;

COMMENT ON VIEW omd_report.history IS
'The tables of which omd.purge deletes history, and what its schedule would delete now.';
COMMENT ON COLUMN omd_report.history.schema_name IS 'The room.';
COMMENT ON COLUMN omd_report.history.table_code IS 'The table.';
COMMENT ON COLUMN omd_report.history.is_purged IS
'TRUE: the schedule omd.purge is active and deletes from it. FALSE: its rows are kept for ever.';
COMMENT ON COLUMN omd_report.history.keep IS
'How long the schedule keeps history; NULL: it has no keep.';
COMMENT ON COLUMN omd_report.history.needs_keep IS
'FALSE: what goes is needed by nobody, so that no keep has to be given.';
COMMENT ON COLUMN omd_report.history.old_rows IS
'How many rows are older than keep, or else than 90 days: so many a purge would delete at most, '
'since some may be needed yet. 1,000: so many or more. Where needs_keep is FALSE, those of any '
'age; in omd_event those that its own setting keep says.';
COMMENT ON COLUMN omd_report.history.next_time IS
'When it deletes next; NULL: never, since the schedule is inactive.';
COMMENT ON COLUMN omd_report.history.command IS
'How the purge is switched on; a worker of the group ADMIN performs it, as a role with omd_admin.';
