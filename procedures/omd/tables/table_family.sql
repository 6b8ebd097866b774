-- Rows of a partition are written through its parents, and rows of a parent into its partitions.

CREATE OR REPLACE FUNCTION omd.table_family(
    p_table oid
)
RETURNS oid[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $table_family$
DECLARE
    v_tables oid[] := ARRAY[p_table];
BEGIN
    -- Most tables have neither, and this look saves them a walk.
    IF NOT EXISTS (
        SELECT FROM pg_class AS c WHERE c.oid = p_table AND (c.relhassubclass OR c.relispartition)
    ) AND NOT EXISTS (
        SELECT FROM pg_inherits AS h WHERE h.inhrelid = p_table
    ) THEN
        RETURN v_tables;
    END IF;
    WITH RECURSIVE down AS (
        SELECT p_table AS relid
        UNION
        SELECT h.inhrelid
        FROM down AS d
        INNER JOIN pg_inherits AS h ON d.relid = h.inhparent
    ),

    up AS (
        SELECT d.relid FROM down AS d
        UNION
        SELECT h.inhparent
        FROM up AS u
        INNER JOIN pg_inherits AS h ON u.relid = h.inhrelid
    )

    SELECT array_agg(u.relid) INTO v_tables FROM up AS u;
    RETURN v_tables;
END
$table_family$;

COMMENT ON FUNCTION omd.table_family IS
'For rooms: Returns the table p_table, its partitions and what inherits from it, and the parents '
'of all these. Locks: none.';
