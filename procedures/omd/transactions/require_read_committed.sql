-- With another isolation level the snapshot is older than the lock: the transaction would wait for
-- another begin and then not see what that one has done.

CREATE OR REPLACE FUNCTION omd.require_read_committed()
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_read_committed$
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        PERFORM omd.raise_error(
            'OM014',
            jsonb_build_object('isolation_level', current_setting('transaction_isolation'))
        );
    END IF;
END
$require_read_committed$;

COMMENT ON FUNCTION omd.require_read_committed IS
'For rooms: Raises OM014 unless the transaction is READ COMMITTED. Locks: none.';
