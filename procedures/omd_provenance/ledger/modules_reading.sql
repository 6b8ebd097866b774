-- A Module that has never run may begin while somebody takes rows back. What its runs have recorded
-- so far, its next run may read again.

CREATE OR REPLACE FUNCTION omd_provenance.modules_reading(
    p_tables text[]
)
RETURNS TABLE (module_id integer)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $modules_reading$
DECLARE
    v_tables text[];
BEGIN
    v_tables := ARRAY(
        SELECT DISTINCT b.table_code
        FROM unnest(p_tables) AS t (table_code)
        CROSS JOIN LATERAL unnest(omd.base_tables(t.table_code)) AS b (table_code)
        WHERE t.table_code IS NOT NULL
    );
    RETURN QUERY
    SELECT i.module_id
    FROM omd.ledger_input AS i
    WHERE i.table_code = ANY(v_tables)
        AND (
            i.upto_id IS NULL
            OR EXISTS (
                SELECT FROM omd._executing_module_instances(i.module_id, NULL) AS e (id)
                WHERE e.id <= i.upto_id
            )
        )
    UNION
    SELECT r.module_id
    FROM omd.ledger_read AS r
    WHERE r.table_code = ANY(v_tables);
END
$modules_reading$;

COMMENT ON FUNCTION omd_provenance.modules_reading IS
'For rooms: returns the Modules that may read one of the tables or views p_tables, whether they '
'have run or not. Locks: none.';
