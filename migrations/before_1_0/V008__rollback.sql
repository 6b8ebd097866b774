-- V008: what a rollback leaves behind on purpose. Applied once. Source: DIRECT, section "Rollback
-- Procedures".

-- A former template that removes nothing was written so on purpose: it goes on working.
ALTER TABLE omd.rollback_template ADD COLUMN keeps_rows boolean NOT NULL DEFAULT FALSE;
UPDATE omd.rollback_template SET keeps_rows = TRUE
WHERE
    coalesce(platform_code, 'POSTGRES') = 'POSTGRES'
    AND statement_template !~* '\m(delete|truncate|drop)\M';
COMMENT ON COLUMN omd.rollback_template.keeps_rows IS
'Rows with the insert instance id of an undone run may stay. FALSE: a rollback that leaves one in '
'a target in PostgreSQL is refused.';
COMMENT ON COLUMN omd.rollback_template.statement_template IS
'One statement. Filled in, quoted: {table}; {insert_instance_column}, {update_instance_column}, '
'{effective_date_column}, {expiry_date_column}, {current_indicator_column}; {key_columns} (k1, '
'k2) and {key_join} (t.k1 = c.k1 AND …; on Spark <=> for =, which also joins NULLs) of the '
'business key; {instance_array}, {instance_list}, {partition_list}: the instances to undo; '
'{open_expiry_date}, {current_yes}, {current_no}: literals; {and_reset_update} (, column = NULL). '
'Without that column in the target, {update_instance_column} is NULL::bigint and '
'{and_reset_update} is empty.';
