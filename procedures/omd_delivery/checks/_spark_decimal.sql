-- Only what is computed with is cast: a comparison of integers needs no decimal.

CREATE OR REPLACE FUNCTION omd_delivery._spark_decimal(
    p_node jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_node ->> 'kind' = 'integer' AND p_node ? 'digits'
                THEN format('CAST(%s AS DECIMAL(%s,0))', p_node ->> 'spark', p_node ->> 'digits')
            ELSE p_node ->> 'spark'
        END;
END;

COMMENT ON FUNCTION omd_delivery._spark_decimal IS
'Returns the part p_node of a check for Spark to compute with. Locks: none.';
