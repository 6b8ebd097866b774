-- It reads the same under any DateStyle and TimeZone.

CREATE OR REPLACE FUNCTION omd_facts._moment_literal(
    p_at timestamptz
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            quote_literal(to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00'),
            'NULL'
        ) || '::timestamptz';
END;

COMMENT ON FUNCTION omd_facts._moment_literal IS
'Returns the SQL literal of p_at, or NULL. Locks: none.';
