-- A character has four bytes at most.

CREATE OR REPLACE FUNCTION omd_facts._text_bytes(
    p_data_type text
)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_data_type = 'text' THEN 1000000000
            WHEN p_data_type LIKE 'character varying%'
                THEN coalesce(substring(p_data_type FROM '\d+')::bigint * 4, 1000000000)
            ELSE 24
        END;
END;

COMMENT ON FUNCTION omd_facts._text_bytes IS
'Returns how many bytes a value of p_data_type may take in an index. Locks: none.';
