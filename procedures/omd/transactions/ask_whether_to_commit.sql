-- PL/pgSQL can't ask whether it may commit, so this procedure tries to, where no COMMIT can
-- succeed: in a block with an exception handler. If only that block prevents the COMMIT, the server
-- names the subtransaction as the reason; else it says what it says to every function. The messages
-- are compared, because the SQLSTATE is the same and the text is translated. A SET clause would
-- itself prevent a COMMIT, so there is none and every name is qualified.

CREATE OR REPLACE PROCEDURE omd.ask_whether_to_commit(
    INOUT p_can_commit boolean
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $ask_whether_to_commit$
DECLARE
    v_message pg_catalog.text;
BEGIN
    BEGIN
        COMMIT;
    EXCEPTION
        WHEN invalid_transaction_termination THEN
            v_message := SQLERRM;
    END;
    p_can_commit := v_message OPERATOR(pg_catalog.<>) omd._refused_commit();
END
$ask_whether_to_commit$;

COMMENT ON PROCEDURE omd.ask_whether_to_commit IS
'For rooms: Returns p_can_commit, whether the procedure that calls it can commit; it can''t when '
'it was called in a transaction block or from a function. Call it first, from a procedure without '
'SET and SECURITY DEFINER. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd.ask_whether_to_commit TO omd_runner, omd_admin;
