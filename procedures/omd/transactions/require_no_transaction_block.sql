-- A procedure that commits in the middle of its work must not begin it where it can't. There is no
-- SET, which would itself prevent a COMMIT, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd.require_no_transaction_block(
    p_routine text
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $require_no_transaction_block$
DECLARE
    v_can_commit boolean;
BEGIN
    IF p_routine IS NULL THEN
        PERFORM omd.raise_error(
            'OM005', pg_catalog.jsonb_build_object('argument', 'p_routine')
        );
    END IF;
    CALL omd.ask_whether_to_commit(v_can_commit);
    IF NOT v_can_commit THEN
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
GRANT EXECUTE ON PROCEDURE omd.require_no_transaction_block TO omd_runner, omd_admin;
