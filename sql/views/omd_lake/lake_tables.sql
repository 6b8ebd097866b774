-- A table is here when it is in the catalogue, a Module loads it, or it has a commit. The newest
-- commit is one look into the index.

CREATE OR REPLACE VIEW omd_report.lake_tables AS
SELECT
    t.table_code,
    coalesce(
        CASE WHEN t.is_catalogued THEN 'ICEBERG' END, c.table_format_code, t.table_format_code
    ) AS table_format_code,
    t.module_codes,
    c.commit_datetime,
    c.operation,
    c.module_instance_id,
    c.sequence_number,
    c.snapshot_id,
    c.total_files,
    c.total_rows,
    t.metadata_location,
    (
        SELECT
            string_agg(
                omd_lake._withheld_text(
                    w.table_code, w.module_instance_id, w.snapshot_id, w.row_count,
                    w.other_snapshot_id
                ),
                ' ' ORDER BY w.noted_datetime, w.module_instance_id, w.snapshot_id
            )
        FROM omd_lake.withheld_rows AS w
        WHERE w.table_code = t.table_code AND w.settled_datetime IS NULL
    ) AS problem,
    k.keep_snapshots,
    k.settled_after
FROM (
    SELECT
        a.table_code,
        max(a.table_format_code) AS table_format_code,
        bool_or(a.is_catalogued) AS is_catalogued,
        max(a.metadata_location) AS metadata_location,
        array_agg(a.module_code ORDER BY a.module_code)
        FILTER (WHERE a.module_code IS NOT NULL) AS module_codes
    FROM (
        SELECT
            quote_ident(i.table_namespace) || '.' || quote_ident(i.table_name) AS table_code,
            'ICEBERG' AS table_format_code,
            TRUE AS is_catalogued,
            i.metadata_location::text AS metadata_location,
            NULL AS module_code
        FROM omd_lake.iceberg_tables AS i
        WHERE i.catalog_name = 'omd' AND i.iceberg_type IS DISTINCT FROM 'VIEW'
        UNION ALL
        SELECT
            m.table_code,
            m.table_format_code,
            FALSE AS is_catalogued,
            NULL AS metadata_location,
            m.module_code
        FROM omd.module AS m
        WHERE
            m.table_format_code IN ('ICEBERG', 'DELTA')
            AND m.module_code NOT IN ('omd_lake_maintain', 'omd_lake_recall')
        UNION ALL
        SELECT
            d.table_code,
            NULL AS table_format_code,
            FALSE AS is_catalogued,
            NULL AS metadata_location,
            NULL AS module_code
        FROM omd_lake._committed_tables() AS d (table_code)
    ) AS a
    GROUP BY a.table_code
) AS t
LEFT JOIN LATERAL (
    SELECT n.*
    FROM omd_lake.table_commit AS n
    WHERE n.table_code = t.table_code
    ORDER BY n.commit_datetime DESC, n.sequence_number DESC
    LIMIT 1
) AS c ON TRUE
-- The first values stand here alone.
CROSS JOIN (
    SELECT
        CASE
            WHEN bool_or(p.code = 'keep_snapshots')
                THEN max(p.span) FILTER (WHERE p.code = 'keep_snapshots')
            ELSE interval '5 days'
        END AS keep_snapshots,
        CASE
            WHEN bool_or(p.code = 'settled_after')
                THEN max(p.span) FILTER (WHERE p.code = 'settled_after')
            ELSE interval '30 days'
        END AS settled_after
    FROM (
        SELECT
            q.parameter_code AS code,
            CASE
                WHEN mp.parameter_value ~ '^[0-9]{1,5} (day|hour)s?$'
                    THEN mp.parameter_value::interval
            END AS span
        FROM omd.module_parameter AS mp
        INNER JOIN omd.parameter AS q ON mp.parameter_id = q.parameter_id
        INNER JOIN omd.module AS m ON mp.module_id = m.module_id
        WHERE m.module_code = 'omd_lake_maintain'
    ) AS p
) AS k;

COMMENT ON VIEW omd_report.lake_tables IS
'The lake tables that are in the catalogue, that a Module loads, or that have a commit, and the '
'newest commit of each.';
COMMENT ON COLUMN omd_report.lake_tables.table_code IS 'The table.';
COMMENT ON COLUMN omd_report.lake_tables.table_format_code IS 'ICEBERG or DELTA.';
COMMENT ON COLUMN omd_report.lake_tables.module_codes IS
'The Modules that load it; NULL: none does.';
COMMENT ON COLUMN omd_report.lake_tables.commit_datetime IS
'When its newest commit was made; NULL, as what follows: it has none.';
COMMENT ON COLUMN omd_report.lake_tables.operation IS
'What that commit was, as in lake_commits; NULL: there is none.';
COMMENT ON COLUMN omd_report.lake_tables.module_instance_id IS
'The run that made it; NULL: none did.';
COMMENT ON COLUMN omd_report.lake_tables.sequence_number IS
'Its sequence number, or its version of Delta; NULL: there is none.';
COMMENT ON COLUMN omd_report.lake_tables.snapshot_id IS 'Its snapshot; NULL: there is none.';
COMMENT ON COLUMN omd_report.lake_tables.total_files IS
'How many data files were live after it; NULL: not known.';
COMMENT ON COLUMN omd_report.lake_tables.total_rows IS
'How many rows were live after it; NULL: not known.';
COMMENT ON COLUMN omd_report.lake_tables.metadata_location IS
'The metadata file in the catalogue, which another engine may have committed since; NULL: it is '
'not in this catalogue.';
COMMENT ON COLUMN omd_report.lake_tables.problem IS
'Which rows a rollback did not bring back, until omd_lake.settle_withheld settles it; NULL: there '
'is none.';
COMMENT ON COLUMN omd_report.lake_tables.keep_snapshots IS
'For how long maintenance keeps snapshots and versions: the parameter of that name of the Module '
'omd_lake_maintain, as ''5 days'' or ''12 hours''; at first 5 days. NULL: its value is no such '
'number, and nothing is maintained.';
COMMENT ON COLUMN omd_report.lake_tables.settled_after IS
'So long after its end no rollback of a run is to be expected, so that its small files may be '
'joined with others: the parameter of that name of omd_lake_maintain; at first 30 days. NULL: as '
'of keep_snapshots.';
