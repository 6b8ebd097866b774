-- A Module has one target; a room has declared the others, and a job may name any. An export writes
-- none, whatever its Module is registered with.

CREATE OR REPLACE FUNCTION omd.tables_of_run(
    p_module_instance_id bigint,
    p_more text[] DEFAULT '{}'
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $tables_of_run$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(DISTINCT b.table_code), '{}')
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m ON mi.module_id = m.module_id
        CROSS JOIN LATERAL (
            SELECT m.table_code
            UNION
            SELECT t.table_code FROM omd.source_table AS t
            WHERE m.is_source AND t.source_code = 'runs.' || m.module_id
            UNION
            SELECT w.table_code FROM omd.write_ledger AS w
            WHERE w.module_instance_id = mi.module_instance_id
            UNION
            SELECT n.table_code FROM unnest(p_more) AS n (table_code)
        ) AS w
        CROSS JOIN LATERAL unnest(omd.base_tables(w.table_code)) AS b (table_code)
        WHERE mi.module_instance_id = p_module_instance_id AND m.module_kind_code <> 'EXPORT'
    );
END
$tables_of_run$;

COMMENT ON FUNCTION omd.tables_of_run IS
'For rooms: returns the tables that the run p_module_instance_id may have written, as '
'omd.base_tables names them. p_more: further tables of it that a room knows. Locks: none.';
REVOKE ALL ON FUNCTION omd.tables_of_run FROM PUBLIC;
