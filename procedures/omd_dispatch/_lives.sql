-- After a restart of the server nobody could renew while it was down, so the time counts from its
-- start.

CREATE OR REPLACE FUNCTION omd_dispatch._lives(
    p_registration_time timestamptz,
    p_ttl interval
)
RETURNS boolean
LANGUAGE sql
VOLATILE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT greatest(p_registration_time, pg_postmaster_start_time()) + p_ttl >= clock_timestamp();
END;

COMMENT ON FUNCTION omd_dispatch._lives IS
'Returns whether a member that registered at p_registration_time with p_ttl lives. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._lives FROM PUBLIC;
