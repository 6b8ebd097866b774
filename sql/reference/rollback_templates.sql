-- The standard rollback statements. 3NF, PRES and HELPER targets depend on their loader: the user
-- supplies a row, for the area or for the Module.

INSERT INTO omd.rollback_template (
    area_code, table_type_code, platform_code, step, statement_template
)
VALUES
('STG', NULL, 'POSTGRES', 1, 'TRUNCATE TABLE {table}'),
('STG', NULL, 'SPARK', 1, 'TRUNCATE TABLE {table}'),
(
    'HSTG',
    NULL,
    'POSTGRES',
    1,
    'DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})'
),
(
    'HSTG',
    NULL,
    'SPARK',
    1,
    'DELETE FROM {table} WHERE {insert_instance_column} IN ({instance_list})'
),
(
    'INT',
    'HUB',
    'POSTGRES',
    1,
    'DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})'
),
(
    'INT',
    'HUB',
    'SPARK',
    1,
    'DELETE FROM {table} WHERE {insert_instance_column} IN ({instance_list})'
),
(
    'INT',
    'LINK',
    'POSTGRES',
    1,
    'DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})'
),
(
    'INT',
    'LINK',
    'SPARK',
    1,
    'DELETE FROM {table} WHERE {insert_instance_column} IN ({instance_list})'
)
ON CONFLICT (area_code, table_type_code, platform_code, module_id, step) DO UPDATE
    SET statement_template = excluded.statement_template;
