-- PostgreSQL's own operator finds a part of a value; a check is about the whole.

CREATE OR REPLACE FUNCTION omd_delivery.matches(
    p_value text,
    p_pattern text
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT p_value ~ ('^(?:' || p_pattern || ')$');
END;

COMMENT ON FUNCTION omd_delivery.matches IS
'For rooms: '
'Returns whether the whole of p_value matches the regular expression p_pattern, as matches does in'
' the check of a model; NULL where an argument is NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.matches TO omd_reader, omd_runner, omd_admin;
