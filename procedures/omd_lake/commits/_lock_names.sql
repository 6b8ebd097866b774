-- A table outside of this catalogue has no row in it. Its commits are made elsewhere and recorded
-- here; both happen under the lock of its name, so that they have one order. The name is a row that
-- only OMD can write: anybody could take an advisory lock, and keep it. A name that is new waits
-- for another session that enters it, as its row would.

CREATE OR REPLACE FUNCTION omd_lake._lock_names(
    p_tables text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_names$
DECLARE
    v_table_code text;
BEGIN
    FOR v_table_code IN
        SELECT DISTINCT t.name COLLATE "C" FROM unnest(p_tables) AS t (name) ORDER BY 1
    LOOP
        PERFORM FROM omd_lake.table_name AS n
        WHERE n.table_code = v_table_code
        FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            INSERT INTO omd_lake.table_name (table_code) VALUES (v_table_code)
            ON CONFLICT DO NOTHING;
            PERFORM FROM omd_lake.table_name AS n
            WHERE n.table_code = v_table_code
            FOR NO KEY UPDATE;
        END IF;
    END LOOP;
END
$lock_names$;

COMMENT ON FUNCTION omd_lake._lock_names IS
'Locks the names p_tables, each in its one spelling, until the transaction ends. Locks: the rows '
'of the names, in their order.';
