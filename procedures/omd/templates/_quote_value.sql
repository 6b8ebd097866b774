-- In a literal of Spark SQL a backslash is an escape; in PostgreSQL it is not.

CREATE OR REPLACE FUNCTION omd._quote_value(
    p_value text,
    p_platform_code text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_platform_code
            WHEN 'POSTGRES' THEN quote_literal(p_value)
            ELSE '''' || regexp_replace(p_value, '([''\\])', '\\\1', 'g') || ''''
        END;
END;

COMMENT ON FUNCTION omd._quote_value IS
'Returns the text p_value as a literal in the dialect of p_platform_code (POSTGRES or SPARK). No '
'locks.';
