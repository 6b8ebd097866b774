-- The registry keeps the words of Spark, so that no plan has to read the check again.

CREATE OR REPLACE FUNCTION omd_delivery._spark_check(
    p_check text,
    p_types jsonb
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT omd_delivery._read_check(p_check, p_types) ->> 'spark';
END;

COMMENT ON FUNCTION omd_delivery._spark_check IS
'Returns the check p_check over attributes of the types p_types in the words of Spark SQL. Errors:'
' 42601: it is no check. Locks: none.';
