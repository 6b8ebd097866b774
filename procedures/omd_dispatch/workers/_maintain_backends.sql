-- A backend whose row is locked has a claim or a renewal at work, so it is not dead.

CREATE OR REPLACE FUNCTION omd_dispatch._maintain_backends(
    p_limit integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $maintain_backends$
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM FROM omd_dispatch.turn AS t WHERE t.part = 'SETTLEMENT' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0::bigint;
    END IF;
    PERFORM omd_dispatch._follow_clock();
    DELETE FROM omd_dispatch.backend_registration AS b
    WHERE b.backend_id IN (
        SELECT d.backend_id FROM omd_dispatch.backend_registration AS d
        WHERE NOT omd_dispatch._lives(d.registration_time, d.ttl, clock_timestamp())
        FOR UPDATE SKIP LOCKED
    );
    RETURN omd_dispatch._settle_claims(NULL, p_limit);
END
$maintain_backends$;

COMMENT ON FUNCTION omd_dispatch._maintain_backends IS
'Removes dead backends and settles up to p_limit claims that have no backend; returns how many. It '
'does nothing while another session is at it. Errors: OM014. Locks: its turn; the backends; the '
'tasks and their keys.';
GRANT EXECUTE ON FUNCTION omd_dispatch._maintain_backends TO omd_runner, omd_admin;
