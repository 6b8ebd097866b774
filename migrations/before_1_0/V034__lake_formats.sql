-- V034: the formats ICEBERG and DELTA of targets on Spark. Applied once. _require_target has a
-- parameter more; its file creates it again.

DO $do$
BEGIN
    IF to_regproc('omd._require_target') IS NOT NULL THEN
        COMMENT ON ROUTINE omd._require_target IS 'Retired.';
        ALTER ROUTINE omd._require_target RENAME TO _former_require_target;
    END IF;
END
$do$;

COMMENT ON COLUMN omd.module.table_format_code IS
'Format of the target. PARQUET: rows can''t be deleted from it. ICEBERG, DELTA: OMD commits what '
'Spark writes. NULL: the session''s own SQL deletes rows.';
COMMENT ON COLUMN omd.rollback_template.statement_template IS
'One statement. Filled in, quoted: {table}; {insert_instance_column}, {update_instance_column}, '
'{effective_date_column}, {expiry_date_column}, {current_indicator_column}; {key_columns} (k1, '
'k2) and {key_join} (t.k1 = c.k1 AND …; on Spark <=> for =, which also joins NULLs) of the '
'business key; {instance_array}, {instance_list}, {partition_list}: the instances to undo; '
'{table_literal}, {open_expiry_date}, {current_yes}, {current_no}: literals; {and_reset_update} '
'(, column = NULL). Without that column in the target, {update_instance_column} is NULL::bigint '
'and {and_reset_update} is empty.';
