-- A new reference to a row locks the row, which only EXCLUSIVE keeps away. It is taken only where a
-- foreign key could delete rows of other runs, and at once: two locks one after the other could
-- block each other.

CREATE OR REPLACE FUNCTION omd_lineage._lock_destination(
    p_table regclass
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $lock_destination$
DECLARE
    v_may_lose_rows boolean := omd.may_lose_rows(p_table);
BEGIN
    EXECUTE format(
        'LOCK TABLE %s IN %s MODE',
        p_table,
        CASE WHEN v_may_lose_rows THEN 'EXCLUSIVE' ELSE 'SHARE ROW EXCLUSIVE' END
    );
    RETURN v_may_lose_rows;
END
$lock_destination$;

COMMENT ON FUNCTION omd_lineage._lock_destination IS
'Locks the destination p_table against other writers, and returns whether deleting its rows may '
'delete or change rows of other runs: then nobody can refer to them either. Locks: p_table, SHARE '
'ROW EXCLUSIVE or EXCLUSIVE.';
GRANT EXECUTE ON FUNCTION omd_lineage._lock_destination TO omd_runner;
