-- A message names what stands at a path, and stays a line.

CREATE OR REPLACE FUNCTION omd.shown_value(
    p_value jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN length(p_value::text) > 60 THEN left(p_value::text, 59) || '…'
            ELSE p_value::text
        END;
END;

COMMENT ON FUNCTION omd.shown_value IS
'For rooms: Returns a value of a document for a message: as JSON, its first 60 characters. Locks: '
'none.';
