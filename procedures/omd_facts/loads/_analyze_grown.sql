-- What grew by a tenth is analyzed in the load, since the next one plans with it.

CREATE OR REPLACE FUNCTION omd_facts._analyze_grown(
    p_schema_name text,
    p_table_name text,
    p_rows bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $analyze_grown$
DECLARE
    v_rows real;
BEGIN
    SELECT c.reltuples INTO v_rows
    FROM pg_class AS c
    WHERE c.oid = to_regclass(format('%I.%I', p_schema_name, p_table_name));
    IF p_rows > 0 AND p_rows * 10 > v_rows THEN
        EXECUTE format('ANALYZE %I.%I', p_schema_name, p_table_name);
    END IF;
END
$analyze_grown$;

COMMENT ON FUNCTION omd_facts._analyze_grown IS
'Analyzes the table p_table_name in p_schema_name where p_rows new rows are more than a tenth of '
'it. Locks: the table, against DDL.';
