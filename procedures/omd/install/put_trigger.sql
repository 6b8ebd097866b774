-- To replace a trigger waits for whoever writes the table, and whoever comes later waits behind; so
-- an installation replaces one only where its definition differs. What PostgreSQL would keep of the
-- new definition is read from a trigger on an empty copy of the table: a text that is written by
-- hand never has its spelling.

CREATE OR REPLACE PROCEDURE omd.put_trigger(
    p_table text,
    p_trigger text,
    p_definition text
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $put_trigger$
DECLARE
    v_copy CONSTANT text := 'omd._trigger_copy';
    v_statement CONSTANT text := 'CREATE OR REPLACE TRIGGER %I %s';
    v_present text;
    v_wanted text;
BEGIN
    SELECT pg_get_triggerdef(t.oid) INTO v_present
    FROM pg_trigger AS t
    WHERE t.tgrelid = p_table::regclass AND t.tgname = p_trigger;
    IF v_present IS NOT NULL THEN
        BEGIN
            EXECUTE format('CREATE TABLE %s (LIKE %s)', v_copy, p_table);
            EXECUTE format(v_statement, p_trigger, replace(p_definition, '{table}', v_copy));
            SELECT pg_get_triggerdef(t.oid) INTO v_wanted
            FROM pg_trigger AS t
            WHERE t.tgrelid = v_copy::regclass AND t.tgname = p_trigger;
            -- What is undone keeps no lock.
            RAISE EXCEPTION USING ERRCODE = 'savepoint_exception';
        EXCEPTION
            WHEN savepoint_exception THEN
                NULL;
        END;
        IF replace(v_wanted, v_copy, p_table::regclass::text) = v_present THEN
            RETURN;
        END IF;
    END IF;
    EXECUTE format(v_statement, p_trigger, replace(p_definition, '{table}', p_table));
END
$put_trigger$;

COMMENT ON PROCEDURE omd.put_trigger IS
'For rooms: creates the trigger p_trigger of p_table, or replaces it if its definition differs. '
'p_definition: what follows the name in CREATE TRIGGER, with {table} for the table. Locks: the '
'table, only if something is done.';
