-- JSON has one kind of number, and a cast of 1.5 would round.

CREATE OR REPLACE FUNCTION omd_lake._whole_number(
    p_value jsonb
)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN jsonb_typeof(p_value) <> 'number' THEN NULL
            WHEN p_value::numeric <> trunc(p_value::numeric) THEN NULL
            WHEN p_value::numeric BETWEEN -9223372036854775808 AND 9223372036854775807
                THEN p_value::numeric::bigint
        END;
END;

COMMENT ON FUNCTION omd_lake._whole_number IS
'Returns the JSON number p_value; NULL when it is no whole number that fits into a bigint. No '
'locks.';
