-- Its Module writes the same tables with each run; a job may name any, and a room knows some.

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
            SELECT unnest(omd.base_tables_of_module(m.module_id)) AS table_code
            UNION
            SELECT unnest(omd.base_tables(w.table_code))
            FROM (
                SELECT l.table_code FROM omd.write_ledger AS l
                WHERE l.module_instance_id = mi.module_instance_id
                UNION
                SELECT n.table_code FROM unnest(p_more) AS n (table_code)
            ) AS w
        ) AS b
        WHERE mi.module_instance_id = p_module_instance_id AND m.module_kind_code <> 'EXPORT'
    );
END
$tables_of_run$;

COMMENT ON FUNCTION omd.tables_of_run IS
'For rooms: returns the tables that the run p_module_instance_id may have written, as '
'omd.base_tables names them. p_more: further tables of it that a room knows. Locks: none.';
