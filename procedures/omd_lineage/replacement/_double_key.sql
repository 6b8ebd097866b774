-- The error needs an example, and the step needs to know whether there is one.

CREATE OR REPLACE FUNCTION omd_lineage._double_key(
    p_block_table text,
    p_key text
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $double_key$
DECLARE
    v_double text;
BEGIN
    EXECUTE format(
        'SELECT ROW(%s)::text FROM %s AS n GROUP BY %s HAVING count(*) > 1 LIMIT 1',
        p_key, p_block_table, p_key
    ) INTO v_double;
    RETURN v_double;
END
$double_key$;

COMMENT ON FUNCTION omd_lineage._double_key IS
'Returns a key that several rows of the temporary table p_block_table (n) have in the columns '
'p_key, an SQL list; NULL when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._double_key TO omd_runner;
