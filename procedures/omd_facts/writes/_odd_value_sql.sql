-- What no delivery may bring: moments that are infinite or outside of the years 0001 to 9999, and
-- numbers that are none. No file holds them all, so a writer may not bring them either.

CREATE OR REPLACE FUNCTION omd_facts._odd_value_sql(
    p_data_type text,
    p_value text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_data_type = 'date'
                THEN format('%s NOT BETWEEN date ''0001-01-01'' AND date ''9999-12-31''', p_value)
            WHEN p_data_type LIKE 'timestamp%'
                THEN
                    format(
                        '(%1$s < %2$s ''0001-01-01 00:00:00%3$s'''
                        ' OR %1$s >= %2$s ''10000-01-01 00:00:00%3$s'')',
                        p_value,
                        p_data_type,
                        CASE WHEN p_data_type LIKE '%with time zone' THEN '+00' ELSE '' END
                    )
            WHEN p_data_type LIKE 'numeric%' THEN format('%s = ''NaN''::numeric', p_value)
            WHEN p_data_type = 'double precision'
                THEN format('%s = ANY(''{NaN,Infinity,-Infinity}''::float8[])', p_value)
        END;
END;

COMMENT ON FUNCTION omd_facts._odd_value_sql IS
'Returns the condition that the expression p_value of the type p_data_type is no value that a '
'delivery may bring; NULL: each value of the type is one. Locks: none.';
