-- A worker says in the session of a task what the session works for (_require_context).

CREATE OR REPLACE FUNCTION omd._claim_of_session()
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        substring(
            current_setting('omd.execution_context', TRUE) FROM '"claim_token" *: *([0-9]{1,18})'
        )::bigint;
END;

COMMENT ON FUNCTION omd._claim_of_session IS
'Returns the claim of the task that the session works for; NULL: it works for none. Locks: none.';
