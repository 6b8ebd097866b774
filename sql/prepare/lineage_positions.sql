-- A step that ends during the upgrade of V004 waits for it inside these two routines, whose text
-- reads the attribute ts of a position, which is pos afterwards: here they come to read it by its
-- place. Always runs, in a transaction before that of the installation, since a waiting call keeps
-- the text with which it began. Does nothing in any other version.

DO $do$
DECLARE
    v_routine text;
BEGIN
    PERFORM FROM pg_attribute AS a
    WHERE a.attrelid = to_regclass('omd_lineage.row_position') AND a.attname = 'ts';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(7302500, 0);
    FOREACH v_routine IN ARRAY ARRAY['advance_offset', 'claim_topic'] LOOP
        IF to_regproc('omd_lineage.' || v_routine) IS NOT NULL THEN
            EXECUTE regexp_replace(
                pg_get_functiondef(to_regproc('omd_lineage.' || v_routine)),
                '(\(v_offset\.next\)|\(coalesce\(v_offset\.quiet_start, v_offset\.last\)\))\.ts\M',
                '(SELECT p.first FROM (SELECT \1.*) AS p (first, second))',
                'g'
            );
        END IF;
    END LOOP;
END
$do$;
