-- V017: the log of a step says where its work is found in the log of the server or of Spark.
-- Applied once. remove_topic and commit_step have a parameter more; their files create them again.

COMMENT ON COLUMN omd_lineage.log.query_id IS
'How the work of the step is named in other logs. In PostgreSQL: the process and the transaction, '
'as %p and %x of log_line_prefix. On Spark: the application and the tag of its jobs. NULL: not '
'known.';

DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY['commit_step', 'remove_topic'] LOOP
        IF to_regproc('omd_lineage.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'COMMENT ON ROUTINE omd_lineage.%1$I IS %3$L; '
                'ALTER ROUTINE omd_lineage.%1$I RENAME TO %2$I',
                v_routine, '_former_' || v_routine, 'Retired.'
            );
        END IF;
    END LOOP;
END
$do$;
