-- PostgreSQL and Spark SQL quote names in different ways.

CREATE OR REPLACE FUNCTION omd._quote_column(
    p_column text,
    p_platform_code text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_platform_code
            WHEN 'POSTGRES' THEN quote_ident(p_column)
            ELSE '`' || replace(p_column, '`', '``') || '`'
        END;
END;

COMMENT ON FUNCTION omd._quote_column IS
'Returns the column name p_column quoted for the dialect of p_platform_code (POSTGRES or SPARK). '
'No locks.';
