-- V040: dispatch: the tables of tasks leave room for later versions of a task, autovacuum passes
-- by small ones, and the index of claims has the number of the claim. Applied once. It reads the
-- tables of tasks; what writes them waits.

DO $do$
DECLARE
    v_root text;
    v_part text;
    v_is_part boolean;
    v_key text;
BEGIN
    FOR v_root IN
        SELECT c.relname FROM pg_class AS c
        WHERE c.relnamespace = 'omd_dispatch'::regnamespace
            AND c.relkind = 'p'
            AND to_regclass(format('omd_dispatch.ix_%s_claimed', c.relname)) IS NOT NULL
        ORDER BY c.relname
    LOOP
        EXECUTE format('DROP INDEX omd_dispatch.ix_%s_claimed', v_root);
        EXECUTE format(
            'CREATE INDEX ix_%1$s_claimed ON ONLY omd_dispatch.%1$s (lane, claim_token)'
            ' WHERE status = ''CLAIMED''',
            v_root
        );
        FOR v_part, v_is_part, v_key IN
            SELECT c.relname, h.inhrelid IS NOT NULL, k.relname
            FROM pg_class AS c
            INNER JOIN pg_index AS i ON c.oid = i.indrelid AND i.indisprimary
            INNER JOIN pg_class AS k ON i.indexrelid = k.oid
            LEFT JOIN pg_inherits AS h ON c.oid = h.inhrelid
            WHERE h.inhparent = format('omd_dispatch.%s', v_root)::regclass
                OR c.oid = to_regclass(format('omd_dispatch.%s_swap', v_root))
            ORDER BY c.relname
        LOOP
            EXECUTE format(
                'DROP INDEX IF EXISTS omd_dispatch.ix_%1$s_claimed;'
                ' CREATE INDEX ix_%1$s_claimed ON omd_dispatch.%1$s (lane, claim_token)'
                ' WHERE status = ''CLAIMED'';'
                ' ALTER TABLE omd_dispatch.%1$s SET (fillfactor = 50,'
                ' autovacuum_vacuum_threshold = 10000, autovacuum_analyze_threshold = 10000);'
                ' ALTER INDEX omd_dispatch.%2$I SET (fillfactor = 50)',
                v_part, v_key
            );
            IF v_is_part THEN
                EXECUTE format(
                    'ALTER INDEX omd_dispatch.ix_%s_claimed'
                    ' ATTACH PARTITION omd_dispatch.ix_%s_claimed',
                    v_root, v_part
                );
            END IF;
        END LOOP;
    END LOOP;
END
$do$;
