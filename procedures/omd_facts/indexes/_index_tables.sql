-- CREATE INDEX lets readers read. The planner must know what has been inserted before the next
-- statement of the load joins it.

CREATE OR REPLACE FUNCTION omd_facts._index_tables(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $index_tables$
DECLARE
    v_index record;
    v_statement text;
BEGIN
    FOR v_index IN
        SELECT
            m.table_name,
            m.statement,
            i.interface_code,
            lead(m.table_name) OVER (ORDER BY m.table_name) IS DISTINCT FROM m.table_name AS is_last
        FROM omd_facts._missing_indexes(p_interface_id) AS m
        INNER JOIN omd_facts.interface AS i ON i.interface_id = p_interface_id
        ORDER BY m.table_name
    LOOP
        v_statement := v_index.statement;
        EXECUTE v_statement;
        IF v_index.is_last THEN
            EXECUTE format('ANALYZE %I.%I', 'cfl_' || v_index.interface_code, v_index.table_name);
        END IF;
    END LOOP;
END
$index_tables$;

COMMENT ON FUNCTION omd_facts._index_tables IS
'Makes the indexes that tables of the interface p_interface_id lack and need. Locks: the tables, '
'against writers.';
