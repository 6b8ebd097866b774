-- What a crash, a copy, an upgrade or a setting leaves wrong around OMD. Each part asks the
-- catalogue of the server, so its rows come and go without a write of ours.

CREATE OR REPLACE VIEW omd_report.server_problems AS
SELECT
    p.problem_code,
    p.severity,
    'server' AS room,
    p.object_kind,
    p.object_key,
    p.subject,
    p.since,
    p.text,
    p.way_out
FROM (
    SELECT
        'SETTING_UNSAFE' AS problem_code,
        'WARNING' AS severity,
        'SETTING' AS object_kind,
        s.name AS object_key,
        'durability' AS subject,
        NULL::timestamptz AS since,
        format(
            '%s is off: a crash %s', s.name,
            CASE s.name
                WHEN 'fsync' THEN 'of the machine may leave a damaged database'
                WHEN 'full_page_writes' THEN 'of the machine may leave half-written pages'
                ELSE
                    'may lose what was committed in the last moments, and lake tables and other '
                    'databases keep the rows'
            END
        ) AS text,
        format(
            CASE
                WHEN s.source IN ('user', 'database', 'database user')
                    THEN 'It is set by ALTER ROLE or ALTER DATABASE: … RESET %s; connect again.'
                ELSE 'ALTER SYSTEM SET %s = on; SELECT pg_catalog.pg_reload_conf();'
            END,
            s.name
        ) AS way_out
    FROM pg_settings AS s
    WHERE
        s.name IN ('fsync', 'full_page_writes', 'synchronous_commit')
        AND s.setting = 'off'
    UNION ALL
    SELECT
        'SERVER_UNKNOWN' AS problem_code,
        'ERROR' AS severity,
        'DATABASE' AS object_kind,
        current_database()::text AS object_key,
        'server known' AS subject,
        NULL::timestamptz AS since,
        'the database was copied, restored or moved, so it sends no events, and workers, '
        'schedulers and loaders do not start' AS text,
        'If this is the production server now: omd call confirm_server --as MOVED --reason ''…''; '
        'if it is a copy: omd call confirm_server --as COPY' AS way_out
    WHERE NOT omd.server_is_known()
    UNION ALL
    -- Several Modules may load one table, and several publications have it.
    SELECT
        'IDENTITY_MISSING' AS problem_code,
        'ERROR' AS severity,
        'TABLE' AS object_kind,
        t.table_name AS object_key,
        'replica identity' AS subject,
        NULL::timestamptz AS since,
        format(
            '%s is in the publication %s and has neither a primary key nor a replica identity, so '
            'each UPDATE and DELETE of it fails, also that of a rollback',
            t.table_name, min(t.publication_name)
        ) AS text,
        t.command || '  (or a primary key)' AS way_out
    FROM (
        SELECT
            w.command,
            w.publication_name,
            substring(w.command FROM 'ALTER TABLE (.*) REPLICA IDENTITY FULL;') AS table_name
        FROM omd.targets_without_identity() AS w
    ) AS t
    GROUP BY t.command, t.table_name
    UNION ALL
    (
        SELECT
            'UPGRADE_UNFINISHED' AS problem_code,
            'WARNING' AS severity,
            'UPGRADE_STEP' AS object_kind,
            u.step_code AS object_key,
            'upgrade' AS subject,
            u.started_at AS since,
            format(
                'the upgrade to %s is not at its end: %s (%s) %s', u.version, u.step_code, u.phase,
                coalesce('has failed: ' || u.error, 'has begun')
            ) AS text,
            'omd install' AS way_out
        FROM omd_report.upgrade AS u
        WHERE u.ended_at IS NULL
        ORDER BY u.started_at, u.step_code
        LIMIT 1
    )
    UNION ALL
    SELECT
        'INDEX_INVALID' AS problem_code,
        'WARNING' AS severity,
        'INDEX' AS object_kind,
        i.indexrelid::regclass::text AS object_key,
        'upgrade' AS subject,
        NULL::timestamptz AS since,
        format('the index %s is not valid: what made it was killed', i.indexrelid::regclass)
            AS text,
        format('omd install; if it stays: REINDEX INDEX CONCURRENTLY %s;', i.indexrelid::regclass)
            AS way_out
    FROM pg_index AS i
    INNER JOIN pg_class AS c ON i.indexrelid = c.oid
    WHERE
        NOT i.indisvalid
        AND c.relowner = to_regrole('omd_owner')::oid
        -- One that is being made is not valid yet.
        AND NOT EXISTS (
            SELECT FROM pg_stat_progress_create_index AS b
            WHERE b.index_relid = i.indexrelid
        )
    UNION ALL
    SELECT
        'MODELS_REFUSED' AS problem_code,
        'WARNING' AS severity,
        'DATABASE' AS object_kind,
        current_database()::text AS object_key,
        'schemas' AS subject,
        NULL::timestamptz AS since,
        'omd_owner may not create any in this database, so no model can be deployed' AS text,
        format('GRANT CREATE ON DATABASE %I TO omd_owner;', current_database()) AS way_out
    WHERE NOT has_database_privilege('omd_owner', current_database(), 'CREATE')
    UNION ALL
    SELECT
        'WRITERS_HIDDEN' AS problem_code,
        'WARNING' AS severity,
        'ROLE' AS object_kind,
        'omd_owner' AS object_key,
        'statistics' AS subject,
        NULL::timestamptz AS since,
        'omd_owner can''t see since when other roles work, so a topic of lineage waits for every '
        'writer of its base table, and a run in the database whose statement was broken off lives '
        'for a day while its connection is open' AS text,
        'As a superuser:  GRANT pg_read_all_stats TO omd_owner;' AS way_out
    WHERE NOT pg_has_role('omd_owner', 'pg_read_all_stats', 'MEMBER')
    UNION ALL
    SELECT
        'ROLE_POWERFUL' AS problem_code,
        'WARNING' AS severity,
        'ROLE' AS object_kind,
        r.rolname::text AS object_key,
        'who runs' AS subject,
        NULL::timestamptz AS since,
        format(
            '%s: %s. What omd_admin registers (executable, before_sql, after_sql, views, rollback '
            'templates) runs with the rights of the role that runs it',
            r.rolname, p.power
        ) AS text,
        'Run loads as a role of their own:  CREATE ROLE loader LOGIN IN ROLE omd_runner;'
            AS way_out
    FROM pg_roles AS r
    CROSS JOIN
        LATERAL (
            SELECT
                CASE
                    WHEN r.rolsuper THEN 'superuser'
                    WHEN r.rolcreaterole THEN 'may create roles'
                    WHEN pg_has_role(r.oid, 'omd_owner', 'MEMBER') THEN 'member of omd_owner'
                    WHEN pg_has_role(r.oid, 'pg_execute_server_program', 'MEMBER')
                        THEN 'may execute programs on the server'
                    WHEN pg_has_role(r.oid, 'pg_write_server_files', 'MEMBER')
                        THEN 'may write files on the server'
                END AS power
        ) AS p
    WHERE
        p.power IS NOT NULL
        AND (
            r.rolname = session_user
            -- Who has taken on another role is "login as role", and a statement may reset that.
            OR EXISTS (
                SELECT
                FROM (
                    (
                        SELECT m.started_by FROM omd.module_instance AS m
                        ORDER BY m.module_instance_id DESC
                        LIMIT 1000
                    )
                    UNION
                    (
                        SELECT b.started_by FROM omd.batch_instance AS b
                        ORDER BY b.batch_instance_id DESC
                        LIMIT 1000
                    )
                ) AS s
                WHERE
                    s.started_by = r.rolname
                    OR starts_with(s.started_by, r.rolname || ' as ')
            )
        )
    UNION ALL
    SELECT
        'SESSIONS_SHORT' AS problem_code,
        'WARNING' AS severity,
        'SETTING' AS object_kind,
        'max_connections' AS object_key,
        'sessions' AS subject,
        NULL::timestamptz AS since,
        format(
            '%s workers with %s slots need %s of %s: four a worker, and one a slot',
            d.workers, d.slots, d.sessions, d.available
        ) AS text,
        'Raise max_connections, or run fewer workers or slots (--workers).' AS way_out
    FROM omd_report.dispatch_sessions AS d
    WHERE d.is_too_many
) AS p;

COMMENT ON VIEW omd_report.server_problems IS
'What is wrong with the server under OMD, its settings and its roles, and what mends it. It has '
'the columns of omd_report.problems; omd doctor shows it too.';
COMMENT ON COLUMN omd_report.server_problems.problem_code IS
'SETTING_UNSAFE, SERVER_UNKNOWN, IDENTITY_MISSING, UPGRADE_UNFINISHED, INDEX_INVALID, '
'MODELS_REFUSED, WRITERS_HIDDEN, ROLE_POWERFUL or SESSIONS_SHORT.';
COMMENT ON COLUMN omd_report.server_problems.severity IS
'ERROR: SERVER_UNKNOWN, IDENTITY_MISSING. WARNING: all others.';
COMMENT ON COLUMN omd_report.server_problems.room IS 'Always server.';
COMMENT ON COLUMN omd_report.server_problems.object_kind IS
'What object_key names: SETTING, DATABASE, TABLE, INDEX, ROLE or UPGRADE_STEP.';
COMMENT ON COLUMN omd_report.server_problems.object_key IS 'Its name.';
COMMENT ON COLUMN omd_report.server_problems.subject IS
'The check: durability, server known, replica identity, upgrade, schemas, statistics, who runs '
'or sessions.';
COMMENT ON COLUMN omd_report.server_problems.since IS
'Since when: of a step of an upgrade; NULL of all others.';
COMMENT ON COLUMN omd_report.server_problems.text IS
'What is wrong; SETTING_UNSAFE speaks of the settings of the session that asks.';
COMMENT ON COLUMN omd_report.server_problems.way_out IS
'What mends it, on a shell or in SQL.';
