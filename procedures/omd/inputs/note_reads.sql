-- A Module that has not run yet, and whose runs record what they read, may read these.

CREATE OR REPLACE FUNCTION omd.note_reads(
    p_module_id integer,
    p_table_array text[]
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO omd.module_read (module_id, table_code)
    SELECT DISTINCT
        p_module_id,
        t.table_code
    FROM unnest(p_table_array) AS t (table_code)
    WHERE
        NOT EXISTS (
            SELECT FROM omd.module_read AS r
            WHERE r.module_id = p_module_id AND r.table_code = t.table_code
        )
    ORDER BY t.table_code
    ON CONFLICT (module_id, table_code) DO NOTHING;
END;

COMMENT ON FUNCTION omd.note_reads IS
'For rooms: notes that runs of the Module p_module_id may read the tables p_table_array, as '
'omd.base_tables names them. Locks: the rows that it writes.';
