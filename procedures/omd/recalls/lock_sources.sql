-- A run in the database holds the positions of what it reads until it commits.

CREATE OR REPLACE FUNCTION omd.lock_sources(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_sources$
DECLARE
    v_sources CONSTANT text[] := ARRAY(
        SELECT DISTINCT t.source_code
        FROM (
            SELECT
                m.module_id,
                max(mi.module_instance_id) AS module_instance_id
            FROM omd.module_instance AS mi
            INNER JOIN omd.module AS m USING (module_id)
            WHERE mi.module_instance_id = ANY(p_instance_array)
            GROUP BY m.module_id
        ) AS r
        CROSS JOIN LATERAL unnest(omd.written_tables(r.module_instance_id)) AS w (table_code)
        INNER JOIN omd.source_table AS t ON w.table_code = t.table_code
    );
BEGIN
    PERFORM FROM omd.source AS s
    WHERE s.source_code = ANY(v_sources)
    ORDER BY s.source_code
    FOR UPDATE;
END
$lock_sources$;

COMMENT ON FUNCTION omd.lock_sources IS
'For rooms: Takes the positions of the tables that the runs p_instance_array have written from all '
'readers, in the order of their codes, until the transaction ends. Locks: the sources, against '
'readers and those who add to them.';
