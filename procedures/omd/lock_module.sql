-- Locks a Module against other begins and answers its row. Of N sessions that begin the same Module
-- at once, each waits here for the one before it to commit.
-- Errors: OM002, OM005, OM014. Locks: the Module row, until the transaction ends.

CREATE OR REPLACE FUNCTION omd.lock_module(
    p_module_code text
)
RETURNS omd.module
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_module$
DECLARE
    v_module omd.module;
BEGIN
    -- The test here spares the usual run a call.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM omd.require_read_committed();
    END IF;
    SELECT m.* INTO v_module
    FROM omd.module AS m
    WHERE m.module_code = p_module_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd.require_module(p_module_code);
    END IF;
    RETURN v_module;
END
$lock_module$;

COMMENT ON FUNCTION omd.lock_module IS
'Locks the Module p_module_code against other begins and answers its row. Errors: OM002, OM005, '
'OM014. Locks: the Module row.';
REVOKE ALL ON FUNCTION omd.lock_module FROM PUBLIC;
