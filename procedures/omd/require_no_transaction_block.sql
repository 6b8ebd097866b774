-- PL/pgSQL can't ask whether it may commit, so this procedure tries to, where no COMMIT can
-- succeed: in a block with an exception handler. If only that block prevents the COMMIT, the server
-- names the subtransaction as the reason; else it says what it says to every function. The messages
-- are compared, because the SQLSTATE is the same and the text is translated. A SET clause would
-- itself prevent a COMMIT, so there is none and every name is qualified.

CREATE OR REPLACE PROCEDURE omd.require_no_transaction_block(
    p_routine text
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $require_no_transaction_block$
DECLARE
    v_message pg_catalog.text;
BEGIN
    IF p_routine IS NULL THEN
        PERFORM omd.raise_error(
            'OM005', pg_catalog.jsonb_build_object('argument', 'p_routine')
        );
    END IF;
    BEGIN
        COMMIT;
    EXCEPTION
        WHEN invalid_transaction_termination THEN
            v_message := SQLERRM;
    END;
    IF v_message OPERATOR(pg_catalog.=) omd._refused_commit() THEN
        PERFORM omd.raise_error(
            'OM018', pg_catalog.jsonb_build_object('routine', p_routine)
        );
    END IF;
END
$require_no_transaction_block$;

COMMENT ON PROCEDURE omd.require_no_transaction_block IS
'For rooms: Raises OM018 when the procedure that calls it can''t commit, because it was called in '
'a transaction block or from a function. p_routine: the name of that procedure. Call it first, '
'from a procedure without SET and SECURITY DEFINER. Errors: OM005, OM018. Locks: none.';
REVOKE ALL ON PROCEDURE omd.require_no_transaction_block FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.require_no_transaction_block TO omd_runner, omd_admin;
