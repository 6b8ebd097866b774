-- A table outside of this catalogue has no row to lock. Its commits are made elsewhere and recorded
-- here; both happen under this lock, so that they have one order.

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
    FOR v_table_code IN SELECT DISTINCT t.name FROM unnest(p_tables) AS t (name) ORDER BY 1
    LOOP
        PERFORM pg_advisory_xact_lock(
            hashtextextended('omd_lake.table_commit ' || v_table_code, 0)
        );
    END LOOP;
END
$lock_names$;

COMMENT ON FUNCTION omd_lake._lock_names IS
'Locks the names p_tables, each in its one spelling, until the transaction ends. Locks: the names,'
' in their order.';
REVOKE ALL ON FUNCTION omd_lake._lock_names FROM PUBLIC;
