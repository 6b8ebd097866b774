-- Who writes row by row finds rows by their keys, so even an empty table has its indexes then.

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
    FOR v_statement IN
        SELECT w.statement
        FROM omd_facts._wanted_indexes(p_interface_id) AS w
        WHERE to_regclass(format('%I.%I', w.schema_name, w.index_name)) IS NULL
    LOOP
        EXECUTE v_statement;
    END LOOP;
END
$index_all$;

COMMENT ON FUNCTION omd_facts._index_all IS
'Makes all indexes that tables of the interface p_interface_id lack. Locks: the tables, against '
'writers.';
REVOKE ALL ON FUNCTION omd_facts._index_all FROM PUBLIC;
