-- Placeholder.

CREATE OR REPLACE FUNCTION omd_delivery._spark_check(
    p_check text,
    p_types jsonb
)
RETURNS text
LANGUAGE sql
BEGIN ATOMIC
    SELECT p_check;
END;
