-- Rooms that keep rows in tables or files of their own know what a run wrote.

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
    RETURN omd.tables_of_run(
        p_module_instance_id,
        ARRAY(SELECT c.table_code FROM omd_lake.written_tables(p_module_instance_id) AS c)
    );
END
$written_tables$;

COMMENT ON FUNCTION omd_provenance._written_tables IS
'Returns the tables that the run p_module_instance_id may have written, as omd.base_tables names '
'them. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._written_tables TO omd_reader;
