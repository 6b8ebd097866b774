-- Under a publication FOR ALL TABLES nobody may change or delete rows of a table that has neither a
-- primary key nor a replica identity. Tables without a key of their own get the whole row, which is
-- logged only where a publication reads it. What makes a table says so at once; this script does it
-- for those that an older version has made. A table that somebody uses is passed over, since to
-- wait for it while others are locked would stop loads; the next installation tries again. Each
-- installation runs the script, in the transaction after its own.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE omd_owner;

DO $do$
DECLARE
    v_table text;
    v_used text[];
BEGIN
    FOR v_table IN
        SELECT c.oid::regclass
        FROM pg_class AS c
        WHERE c.relkind IN ('r', 'p')
            AND c.relpersistence <> 't'
            AND c.relowner = 'omd_owner'::regrole
            AND c.relreplident NOT IN ('f', 'i')
            AND NOT EXISTS (
                SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary
            )
        ORDER BY 1
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE NOWAIT', v_table);
            EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY FULL', v_table);
        EXCEPTION
            WHEN lock_not_available THEN
                v_used := v_used || v_table;
        END;
    END LOOP;
    IF v_used IS NOT NULL THEN
        RAISE WARNING USING
            MESSAGE = 'these tables have no replica identity yet, since they are in use: '
                || array_to_string(v_used, ', '),
            HINT = 'Install again before you create a publication FOR ALL TABLES.';
    END IF;
END
$do$;
