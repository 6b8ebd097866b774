-- Who writes row by row finds rows by their keys, so even an empty table has its indexes then. A
-- statement that writes can't make them: it uses the tables itself.

CREATE OR REPLACE FUNCTION omd_facts._index_all(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $index_all$
DECLARE
    v_statement text;
BEGIN
    -- A load at work has this row.
    UPDATE omd_facts.interface AS i SET is_indexed = TRUE WHERE i.interface_id = p_interface_id;
    FOR v_statement IN
        SELECT m.statement FROM omd_facts._missing_indexes(p_interface_id) AS m
    LOOP
        EXECUTE v_statement;
    END LOOP;
END
$index_all$;

COMMENT ON FUNCTION omd_facts._index_all IS
'Prepares the interface p_interface_id for writers: all of its tables have all indexes from now '
'on. Locks: the interface, the tables, against writers.';
