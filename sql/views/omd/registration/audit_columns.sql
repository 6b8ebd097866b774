-- This view answers whether each target in this database has the columns that a rollback needs. It
-- reads the catalogue only, so nobody needs a right on the targets; omd.audit_column_values reads
-- what is in the columns.

CREATE OR REPLACE VIEW omd_report.audit_columns AS
WITH target AS (
    SELECT
        m.module_code,
        m.table_code,
        m.insert_instance_column,
        m.update_instance_column,
        parse_ident(omd.quote_table(m.table_code, m.platform_code)) AS parts
    FROM omd.module AS m
    WHERE m.platform_code = 'POSTGRES'
),

found AS (
    SELECT
        t.module_code,
        t.table_code,
        t.insert_instance_column,
        t.update_instance_column,
        c.oid IS NOT NULL AS table_exists,
        i.attname IS NOT NULL AS insert_column_exists,
        coalesce(i.atttypid = 'bigint'::regtype, FALSE) AS insert_column_is_bigint,
        coalesce(i.attnotnull, FALSE) AS insert_column_is_not_null,
        omd._column_is_indexed(t.table_code, t.insert_instance_column) AS insert_column_is_indexed,
        u.attname IS NOT NULL AS update_column_exists,
        coalesce(u.atttypid = 'bigint'::regtype, FALSE) AS update_column_is_bigint
    FROM target AS t
    LEFT JOIN pg_namespace AS n ON t.parts[1]::name = n.nspname
    LEFT JOIN pg_class AS c
        ON
            n.oid = c.relnamespace
            AND t.parts[2]::name = c.relname
            AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
    LEFT JOIN pg_attribute AS i
        ON c.oid = i.attrelid AND t.insert_instance_column::name = i.attname AND i.attnum > 0
    LEFT JOIN pg_attribute AS u
        ON c.oid = u.attrelid AND t.update_instance_column::name = u.attname AND u.attnum > 0
)

SELECT
    f.module_code,
    f.table_code,
    f.insert_instance_column,
    f.update_instance_column,
    f.table_exists,
    f.insert_column_exists,
    f.insert_column_is_bigint,
    f.insert_column_is_not_null,
    f.insert_column_is_indexed,
    f.update_column_exists,
    f.update_column_is_bigint,
    array_remove(
        CASE
            WHEN NOT f.table_exists THEN ARRAY['TABLE_MISSING']
            WHEN NOT f.insert_column_exists THEN ARRAY['INSERT_COLUMN_MISSING']
            ELSE
                ARRAY[
                    CASE WHEN NOT f.insert_column_is_bigint THEN 'INSERT_COLUMN_NOT_BIGINT' END,
                    CASE WHEN NOT f.insert_column_is_not_null THEN 'INSERT_COLUMN_NULLABLE' END,
                    CASE WHEN NOT f.insert_column_is_indexed THEN 'INSERT_COLUMN_NOT_INDEXED' END
                ]
        END
        || CASE
            WHEN f.update_column_exists AND NOT f.update_column_is_bigint
                THEN 'UPDATE_COLUMN_NOT_BIGINT'
        END,
        NULL
    ) AS problems
FROM found AS f;

COMMENT ON VIEW omd_report.audit_columns IS
'The audit columns of each target in this database, and what is wrong with them. '
'omd.audit_column_values checks the values in them.';
COMMENT ON COLUMN omd_report.audit_columns.module_code IS 'The Module.';
COMMENT ON COLUMN omd_report.audit_columns.table_code IS 'Its target.';
COMMENT ON COLUMN omd_report.audit_columns.insert_instance_column IS
'Column with the Module Instance ID that inserted the row.';
COMMENT ON COLUMN omd_report.audit_columns.update_instance_column IS
'Column with the Module Instance ID that last updated the row.';
COMMENT ON COLUMN omd_report.audit_columns.table_exists IS 'The target exists.';
COMMENT ON COLUMN omd_report.audit_columns.insert_column_exists IS
'The insert column exists. Without it, only a TRUNCATE can roll the target back.';
COMMENT ON COLUMN omd_report.audit_columns.insert_column_is_bigint IS
'The insert column is a bigint.';
COMMENT ON COLUMN omd_report.audit_columns.insert_column_is_not_null IS
'The insert column is NOT NULL, so every row can be traced to its run.';
COMMENT ON COLUMN omd_report.audit_columns.insert_column_is_indexed IS
'An index over all rows begins with the insert column, so a rollback need not read the whole '
'table.';
COMMENT ON COLUMN omd_report.audit_columns.update_column_exists IS
'The update column exists. A table that is only inserted into needs none.';
COMMENT ON COLUMN omd_report.audit_columns.update_column_is_bigint IS
'The update column is a bigint.';
COMMENT ON COLUMN omd_report.audit_columns.problems IS
'What is wrong: TABLE_MISSING, INSERT_COLUMN_MISSING, INSERT_COLUMN_NOT_BIGINT, '
'INSERT_COLUMN_NULLABLE, INSERT_COLUMN_NOT_INDEXED, UPDATE_COLUMN_NOT_BIGINT. The array is empty '
'when nothing is wrong.';
