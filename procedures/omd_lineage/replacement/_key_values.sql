-- The setting keeps every digit of a float.

CREATE OR REPLACE FUNCTION omd_lineage._key_values(
    p_key_table text,
    p_column text,
    OUT p_literal text,
    OUT p_has_null boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
AS $key_values$
BEGIN
    EXECUTE format(
        'SELECT coalesce((array_agg(DISTINCT k.%1$I) FILTER (WHERE k.%1$I IS NOT NULL))::text,'
        ' ''{}''), coalesce(bool_or(k.%1$I IS NULL), FALSE) FROM %2$s AS k',
        p_column, p_key_table
    ) INTO p_literal, p_has_null;
END
$key_values$;

COMMENT ON FUNCTION omd_lineage._key_values IS
'Returns the values in the column p_column of the temporary table p_key_table: p_literal, an array'
' literal, and p_has_null. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._key_values TO omd_runner;
