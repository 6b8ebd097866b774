-- Each column of this room that can hold text: what an erasure does with it, and why.

INSERT INTO omd.text_column (table_code, column_name, treatment, reason)
SELECT
    t.table_code,
    c.name,
    t.treatment,
    t.reason
FROM (
    VALUES
    (
        'omd_lake.closed_location',
        '{location}',
        'NEVER_PERSONAL',
        'a place that an administrator named'
    ),
    (
        'omd_lake.iceberg_namespace_properties',
        '{catalog_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_lake.iceberg_namespace_properties',
        '{namespace}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_lake.iceberg_namespace_properties',
        '{property_key,property_value}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_lake.iceberg_tables',
        '{catalog_name,table_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_lake.iceberg_tables',
        '{iceberg_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_lake.iceberg_tables',
        '{metadata_location,previous_metadata_location}',
        'NEVER_PERSONAL',
        'a place that an administrator named'
    ),
    (
        'omd_lake.iceberg_tables',
        '{table_namespace}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_lake.table_commit',
        '{metadata_location}',
        'NEVER_PERSONAL',
        'a place that an administrator named'
    ),
    (
        'omd_lake.table_commit',
        '{operation,table_code,table_format_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_lake.table_name',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_lake.withheld_rows',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_lake.write_folder',
        '{folder}',
        'NOT_REACHED',
        'files of deliveries: the name of a file, or of a folder, that stays'
    ),
    (
        'omd_lake.write_folder',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
