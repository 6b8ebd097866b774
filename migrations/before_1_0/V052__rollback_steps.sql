-- V052: what kind of statement a rollback template is, so that no caller reads its text. Applied
-- once. A call from before goes on with the former functions: _rollback_statements answers a column
-- more, its file creates it again; rollback_steps takes the place of _plan_rollback.

DO $do$
BEGIN
    IF to_regproc('omd._rollback_statements') IS NOT NULL THEN
        COMMENT ON ROUTINE omd._rollback_statements IS 'Retired.';
        ALTER ROUTINE omd._rollback_statements RENAME TO _former_rollback_statements;
    END IF;
    IF to_regproc('omd._plan_rollback') IS NOT NULL THEN
        COMMENT ON ROUTINE omd._plan_rollback IS 'Retired.';
    END IF;
END
$do$;

ALTER TABLE omd.rollback_template ADD COLUMN statement_kind text NOT NULL GENERATED ALWAYS AS (
    CASE
        WHEN statement_template ~ '^CALL\s+omd\.undo\(' THEN 'LAKE'
        WHEN
            statement_template
            ~ '^\s*ALTER TABLE \{table\} DROP IF EXISTS \{partition_list\}\s*$'
            THEN 'PARTITIONS'
        ELSE 'SQL'
    END
) STORED;
COMMENT ON COLUMN omd.rollback_template.statement_kind IS
'What has to be done. SQL: the statement is executed as it is. PARTITIONS: before it drops the '
'partitions of the undone runs, their files are removed, also those that the catalogue does not '
'know. LAKE: nobody executes it; the driver commits to the lake tables that the runs wrote.';
