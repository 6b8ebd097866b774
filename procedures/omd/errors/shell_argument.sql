-- Views name commands that people copy, and a code may hold any character. What a shell would read
-- in another way stands in quotes, and -- says of a code that begins like an option that it is
-- none.

CREATE OR REPLACE FUNCTION omd.shell_argument(
    p_text text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE WHEN p_text LIKE '-%' THEN '-- ' ELSE '' END
        || CASE
            WHEN p_text ~ '^[A-Za-z0-9_.:/@-]+$' THEN p_text
            ELSE '''' || replace(p_text, '''', '''\''''') || ''''
        END;
END;

COMMENT ON FUNCTION omd.shell_argument IS
'For rooms: Returns p_text as the last argument of a command on a shell. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.shell_argument TO omd_reader;
