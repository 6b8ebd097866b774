-- A person who cancels wants an end, and a timeout is an answer. Both have the same SQLSTATE, and
-- the message depends on the language of the server. The clock of statement_timeout starts when the
-- text of a statement comes, that of statement_timestamp() when it is executed, so the begin of the
-- transaction is what is never later.

CREATE OR REPLACE FUNCTION omd_web._is_out_of_time()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        s.setting::bigint > 0
        AND clock_timestamp() >= transaction_timestamp() + s.setting::bigint * interval '1 ms'
    FROM pg_settings AS s
    WHERE s.name = 'statement_timeout';
END;

COMMENT ON FUNCTION omd_web._is_out_of_time IS
'Returns whether statement_timeout may have ended the statement: the transaction has run for as '
'long as it lets a statement. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_web._is_out_of_time TO omd_reader;
