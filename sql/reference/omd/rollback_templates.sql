-- The standard rollback statements, each with a SELECT that counts its rows for a dry run. 3NF,
-- PRES and HELPER targets depend on their loader, so the user registers their rollback, for an area
-- or for a Module. A Spark target without a format is one whose rows the session itself can delete
-- (Delta, Iceberg, …). Plain Parquet is partitioned by the insert instance column and loses whole
-- partitions, in STG too, since Spark truncates no external table.

INSERT INTO omd.rollback_template (
    area_code, table_type_code, platform_code, table_format_code, step, statement_template,
    count_template
)
VALUES
(
    'STG', NULL, 'POSTGRES', NULL, 1,
    'TRUNCATE TABLE {table}',
    'SELECT count(*) FROM {table}'
),
('STG', NULL, 'SPARK', NULL, 1, 'TRUNCATE TABLE {table}', NULL),
(
    'STG', NULL, 'SPARK', 'PARQUET', 1,
    'ALTER TABLE {table} DROP IF EXISTS {partition_list}',
    NULL
)
ON CONFLICT (
    area_code, table_type_code, platform_code, table_format_code, module_id, step
) DO UPDATE SET
    statement_template = excluded.statement_template,
    count_template = excluded.count_template;

-- What a run did to a lake table is recorded, so one statement fits every area and table type. The
-- driver executes it for every lake table that the runs wrote.
INSERT INTO omd.rollback_template (
    area_code, platform_code, table_format_code, step, statement_template
)
SELECT
    a.area_code,
    'SPARK' AS platform_code,
    f.table_format_code,
    1 AS step,
    'CALL omd.undo(table => {table_literal}, instances => array({instance_list}))'
        AS statement_template
FROM (VALUES ('STG'), ('HSTG'), ('INT'), ('PRES'), ('HELPER')) AS a (area_code)
CROSS JOIN (VALUES ('ICEBERG'), ('DELTA')) AS f (table_format_code)
ON CONFLICT (
    area_code, table_type_code, platform_code, table_format_code, module_id, step
) DO UPDATE SET
    statement_template = excluded.statement_template,
    count_template = excluded.count_template;

-- Insert-only targets are the history of staging, hubs and links.
INSERT INTO omd.rollback_template (
    area_code, table_type_code, platform_code, table_format_code, step, statement_template,
    count_template
)
SELECT
    target.area_code,
    target.table_type_code,
    way.platform_code,
    way.table_format_code,
    1 AS step,
    way.statement_template,
    way.count_template
FROM (
    VALUES ('HSTG', NULL), ('INT', 'HUB'), ('INT', 'LINK')
) AS target (area_code, table_type_code)
CROSS JOIN (
    VALUES
    (
        'POSTGRES', NULL,
        'DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})',
        'SELECT count(*) FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})'
    ),
    (
        'SPARK', NULL,
        'DELETE FROM {table} WHERE {insert_instance_column} IN ({instance_list})',
        NULL
    ),
    ('SPARK', 'PARQUET', 'ALTER TABLE {table} DROP IF EXISTS {partition_list}', NULL)
) AS way (platform_code, table_format_code, statement_template, count_template)
ON CONFLICT (
    area_code, table_type_code, platform_code, table_format_code, module_id, step
) DO UPDATE SET
    statement_template = excluded.statement_template,
    count_template = excluded.count_template;

-- In a satellite, the rows of the array are deleted, and each key that the array inserted or
-- updated gets its history put together again: a row ends where the next one starts, and the last
-- one is open, unless another run has closed it on purpose. In PostgreSQL this is one statement, so
-- that the keys need not be stored anywhere; it deletes before it opens (the first condition),
-- because open rows may have a unique index. Keys with a NULL in them are found by a window
-- function, for which two NULLs are equal, and not by a join, for which they are not. The window
-- reads all rows with such keys, so it runs only when the array touched one. On Spark the repair
-- comes first, while the keys are still there; <=> joins NULLs.
INSERT INTO omd.rollback_template (
    area_code, table_type_code, platform_code, step, statement_template, count_template
)
SELECT
    'INT' AS area_code,
    target.table_type_code,
    way.platform_code,
    way.step,
    way.statement_template,
    way.count_template
FROM (VALUES ('SAT'), ('LSAT')) AS target (table_type_code)
CROSS JOIN (
    VALUES
    (
        'POSTGRES', 1,
        'WITH touched AS MATERIALIZED (
    SELECT {key_columns}, ROW({key_columns}) IS NOT NULL AS omd_is_whole FROM {table}
    WHERE {insert_instance_column} = ANY ({instance_array})
        OR {update_instance_column} = ANY ({instance_array})
), undone AS (
    DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array}) RETURNING 1
), history AS (
    SELECT tableoid AS omd_table, ctid AS omd_row,
        lead({effective_date_column}) OVER (
            PARTITION BY {key_columns} ORDER BY {effective_date_column}, {insert_instance_column}
        ) AS omd_next
    FROM {table}
    WHERE ({key_columns}) IN (SELECT {key_columns} FROM touched)
        AND ({insert_instance_column} = ANY ({instance_array})) IS NOT TRUE
    UNION ALL
    SELECT omd_table, omd_row, omd_next FROM (
        SELECT tableoid AS omd_table, ctid AS omd_row,
            lead({effective_date_column}) OVER (
                PARTITION BY {key_columns},
                    ({insert_instance_column} = ANY ({instance_array})) IS NOT TRUE
                ORDER BY {effective_date_column}, {insert_instance_column}
            ) AS omd_next,
            bool_or(
                {insert_instance_column} = ANY ({instance_array})
                OR {update_instance_column} = ANY ({instance_array})
            ) OVER (PARTITION BY {key_columns}) AS omd_is_touched,
            ({insert_instance_column} = ANY ({instance_array})) IS NOT TRUE AS omd_stays
        FROM {table}
        WHERE NOT ROW({key_columns}) IS NOT NULL
            AND EXISTS (SELECT FROM touched WHERE NOT omd_is_whole)
    ) AS n WHERE omd_is_touched AND omd_stays
)
UPDATE {table} AS t SET
    {expiry_date_column} = coalesce(h.omd_next, {open_expiry_date}),
    {current_indicator_column} = CASE WHEN h.omd_next IS NULL THEN {current_yes}'
        ' ELSE {current_no} END{and_reset_update}
FROM history AS h
WHERE (SELECT count(*) FROM undone) >= 0
    AND t.tableoid = h.omd_table AND t.ctid = h.omd_row
    AND (
        {update_instance_column} = ANY ({instance_array})
        OR {expiry_date_column} IS DISTINCT FROM coalesce(h.omd_next, {open_expiry_date})
        OR {current_indicator_column} IS DISTINCT FROM'
        ' CASE WHEN h.omd_next IS NULL THEN {current_yes} ELSE {current_no} END
    )
    AND (
        h.omd_next IS NULL AND {update_instance_column} <> {insert_instance_column}
        AND {update_instance_column} <> ALL ({instance_array})
    ) IS NOT TRUE',
        'WITH touched AS MATERIALIZED (
    SELECT {key_columns}, ROW({key_columns}) IS NOT NULL AS omd_is_whole FROM {table}
    WHERE {insert_instance_column} = ANY ({instance_array})
        OR {update_instance_column} = ANY ({instance_array})
)
SELECT (
        SELECT count(*) FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})
    ) + count(*)
FROM (
    SELECT *,
        lead({effective_date_column}) OVER (
            PARTITION BY {key_columns} ORDER BY {effective_date_column}, {insert_instance_column}
        ) AS omd_next,
        TRUE AS omd_is_touched
    FROM {table}
    WHERE ({key_columns}) IN (SELECT {key_columns} FROM touched)
        AND ({insert_instance_column} = ANY ({instance_array})) IS NOT TRUE
    UNION ALL
    SELECT *,
        lead({effective_date_column}) OVER (
            PARTITION BY {key_columns},
                ({insert_instance_column} = ANY ({instance_array})) IS NOT TRUE
            ORDER BY {effective_date_column}, {insert_instance_column}
        ) AS omd_next,
        bool_or(
            {insert_instance_column} = ANY ({instance_array})
            OR {update_instance_column} = ANY ({instance_array})
        ) OVER (PARTITION BY {key_columns}) AS omd_is_touched
    FROM {table}
    WHERE NOT ROW({key_columns}) IS NOT NULL
        AND EXISTS (SELECT FROM touched WHERE NOT omd_is_whole)
) AS h
WHERE omd_is_touched
    AND ({insert_instance_column} = ANY ({instance_array})) IS NOT TRUE
    AND (
        {update_instance_column} = ANY ({instance_array})
        OR {expiry_date_column} IS DISTINCT FROM coalesce(h.omd_next, {open_expiry_date})
        OR {current_indicator_column} IS DISTINCT FROM'
        ' CASE WHEN h.omd_next IS NULL THEN {current_yes} ELSE {current_no} END
    )
    AND (
        h.omd_next IS NULL AND {update_instance_column} <> {insert_instance_column}
        AND {update_instance_column} <> ALL ({instance_array})
    ) IS NOT TRUE'
    ),
    (
        'SPARK', 1,
        'MERGE INTO {table} AS t USING (
    SELECT {key_columns}, {effective_date_column} AS omd_effective,
        lead({effective_date_column}) OVER (
            PARTITION BY {key_columns} ORDER BY {effective_date_column}
        ) AS omd_next
    FROM {table} AS t
    LEFT SEMI JOIN (
        SELECT {key_columns} FROM {table}
        WHERE {insert_instance_column} IN ({instance_list})
            OR {update_instance_column} IN ({instance_list})
    ) AS c ON {key_join}
    WHERE NOT coalesce({insert_instance_column} IN ({instance_list}), FALSE)
) AS c
ON {key_join} AND t.{effective_date_column} = c.omd_effective
    AND NOT coalesce(t.{insert_instance_column} IN ({instance_list}), FALSE)
WHEN MATCHED AND NOT coalesce(
    c.omd_next IS NULL AND t.{update_instance_column} <> t.{insert_instance_column}
    AND t.{update_instance_column} NOT IN ({instance_list}), FALSE
) THEN UPDATE SET
    t.{expiry_date_column} = coalesce(c.omd_next, {open_expiry_date}),
    t.{current_indicator_column} = CASE WHEN c.omd_next IS NULL THEN {current_yes}'
        ' ELSE {current_no} END,
    t.{update_instance_column} = CASE WHEN t.{update_instance_column} IN ({instance_list})'
        ' THEN NULL ELSE t.{update_instance_column} END',
        NULL
    ),
    (
        'SPARK', 2,
        'DELETE FROM {table} WHERE {insert_instance_column} IN ({instance_list})',
        NULL
    )
) AS way (platform_code, step, statement_template, count_template)
ON CONFLICT (
    area_code, table_type_code, platform_code, table_format_code, module_id, step
) DO UPDATE SET
    statement_template = excluded.statement_template,
    count_template = excluded.count_template;
