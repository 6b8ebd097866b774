-- A rollback checks all constraints at its end, also in a transaction of its caller, which may go
-- on and rely on a constraint that waits for the commit. PostgreSQL has no command that sets a
-- constraint back to how it was declared. A role that may not use the schema can't name it. The few
-- constraints come first: from the schemas, the planner would read all of them once for each.

CREATE OR REPLACE FUNCTION omd._keep_deferred()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $keep_deferred$
DECLARE
    v_names text := (
        WITH late AS MATERIALIZED (
            SELECT
                k.connamespace,
                k.conname
            FROM pg_constraint AS k
            WHERE k.condeferred AND k.conparentid = 0
        )

        SELECT string_agg(DISTINCT format('%I.%I', n.nspname, l.conname), ', ')
        FROM late AS l
        INNER JOIN pg_namespace AS n ON l.connamespace = n.oid
        WHERE has_schema_privilege(n.oid, 'USAGE')
    );
BEGIN
    IF v_names IS NOT NULL THEN
        EXECUTE 'SET CONSTRAINTS ' || v_names || ' DEFERRED';
    END IF;
END
$keep_deferred$;

COMMENT ON FUNCTION omd._keep_deferred IS
'Lets all constraints that are declared INITIALLY DEFERRED wait for the end of the transaction '
'again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._keep_deferred TO omd_runner, omd_admin;
