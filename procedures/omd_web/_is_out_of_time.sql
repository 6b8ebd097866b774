-- A person who cancels wants an end, and a timeout is an answer. Both have the same SQLSTATE, and
-- the message depends on the language of the server.

CREATE OR REPLACE FUNCTION omd_web._is_out_of_time()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        s.setting::bigint > 0
        AND clock_timestamp() >= statement_timestamp() + s.setting::bigint * interval '1 ms'
    FROM pg_settings AS s
    WHERE s.name = 'statement_timeout';
END;

COMMENT ON FUNCTION omd_web._is_out_of_time IS
'Returns whether the statement has run for as long as statement_timeout lets it. Locks: none.';
REVOKE ALL ON FUNCTION omd_web._is_out_of_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_web._is_out_of_time TO omd_reader;
