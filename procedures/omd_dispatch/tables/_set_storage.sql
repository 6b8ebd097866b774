-- A task is written three times: when it is created, claimed and ended. Each writes a row and an
-- entry of the primary key. In half-filled pages the later ones find room beside the first, so that
-- pages need not be cleaned or split while tasks are claimed; the full pages take less in the end.
-- Autovacuum leaves alone what has few dead rows: after each of its visits all sessions plan their
-- claims anew, and tasks wait for that.

CREATE OR REPLACE PROCEDURE omd_dispatch._set_storage(
    p_table text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_storage$
DECLARE
    v_part regclass;
    v_key regclass;
BEGIN
    FOR v_part, v_key IN
        SELECT c.oid::regclass, i.indexrelid::regclass
        FROM omd_dispatch._task_tables(p_table) AS t (relation)
        INNER JOIN pg_class AS c ON t.relation = c.oid
        INNER JOIN pg_index AS i ON c.oid = i.indrelid AND i.indisprimary
        WHERE c.reloptions IS NULL
        ORDER BY c.relname
    LOOP
        EXECUTE format(
            'ALTER TABLE %s SET ('
            'fillfactor = 50,'
            ' autovacuum_vacuum_threshold = 10000, autovacuum_analyze_threshold = 10000);'
            ' ALTER INDEX %s SET (fillfactor = 50)',
            v_part, v_key
        );
    END LOOP;
END
$set_storage$;

COMMENT ON PROCEDURE omd_dispatch._set_storage IS
'Lets the new partitions of p_table, and its spare partition, keep half of their pages free for '
'the later versions of their tasks, and autovacuum pass by while they have few of them. Locks: '
'these tables, as VACUUM does.';
