-- The longest name of PostgreSQL has 63 bytes, and _now, _past and _key must still fit behind it.

CREATE OR REPLACE FUNCTION omd_facts._name(
    p_name text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN octet_length(p_name) <= 58 THEN p_name
            ELSE left(p_name, 49) || '_' || left(md5(p_name), 8)
        END;
END;

COMMENT ON FUNCTION omd_facts._name IS
'Returns p_name, or where it has over 58 bytes 49 of them, _ and 8 digits of its MD5. Locks: '
'none.';
