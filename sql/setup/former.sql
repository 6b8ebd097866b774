-- In a database of the first version the columns of Modules get their order from the migrations, so
-- migrations/before_1_0/prepare/module_columns.sql leaves them alone. A run that begins holds the
-- Modules and then wants their instances, so the installation locks them here, all at once or none,
-- while it holds nothing else. Each installation runs this script; it does nothing anywhere else.

SET LOCAL search_path = pg_catalog, pg_temp;

DO $do$
DECLARE
    v_timeout CONSTANT text := current_setting('lock_timeout');
    v_patience CONSTANT text := concat(
        date_part('epoch', current_setting('deadlock_timeout')::interval) + 0.5, 's'
    );
BEGIN
    PERFORM FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = 'omd' AND c.relname = 'module_instance' AND NOT EXISTS (
        SELECT FROM pg_class AS f WHERE f.relnamespace = n.oid AND f.relname = 'table_format'
    );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM set_config('lock_timeout', '200ms', TRUE);
    LOOP
        BEGIN
            LOCK TABLE omd.batch_instance, omd.module, omd.module_instance IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION
            WHEN lock_not_available THEN
                -- An autovacuum is cancelled for who has waited for it so long; this stops no load.
                BEGIN
                    PERFORM set_config('lock_timeout', v_patience, TRUE);
                    LOCK TABLE omd.batch_instance, omd.module, omd.module_instance
                    IN SHARE UPDATE EXCLUSIVE MODE;
                EXCEPTION
                    WHEN lock_not_available OR deadlock_detected THEN
                        NULL;
                END;
                PERFORM set_config('lock_timeout', '200ms', TRUE);
                PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    PERFORM set_config('lock_timeout', v_timeout, TRUE);
END
$do$;
