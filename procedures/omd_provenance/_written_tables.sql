-- A Module has one target; a room has declared the others, or knows them by itself.

CREATE OR REPLACE FUNCTION omd_provenance._written_tables(
    p_module_instance_id bigint
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $written_tables$
DECLARE
    v_tables text[] := omd_facts.written_entities(p_module_instance_id);
BEGIN
    IF v_tables IS NOT NULL THEN
        RETURN v_tables;
    END IF;
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
            SELECT c.table_code FROM omd_lake.written_tables(mi.module_instance_id) AS c
        ) AS w
        CROSS JOIN LATERAL unnest(omd.base_tables(w.table_code)) AS b (table_code)
        WHERE mi.module_instance_id = p_module_instance_id AND m.module_kind_code <> 'EXPORT'
    );
END
$written_tables$;

COMMENT ON FUNCTION omd_provenance._written_tables IS
'Returns the tables that the run p_module_instance_id may have written, as omd.base_tables names '
'them. Locks: none.';
REVOKE ALL ON FUNCTION omd_provenance._written_tables FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._written_tables TO omd_reader;
