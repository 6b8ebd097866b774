-- After a restart of the server nobody could renew while it was down, so the time counts from its
-- start. A start that lies ahead is that of a clock which was set back since, and says nothing.

CREATE OR REPLACE FUNCTION omd_dispatch._lives(
    p_registration_time timestamptz,
    p_ttl interval,
    p_at timestamptz
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        greatest(
            p_registration_time,
            CASE WHEN pg_postmaster_start_time() <= p_at THEN pg_postmaster_start_time() END
        ) + p_ttl >= p_at;
END;

COMMENT ON FUNCTION omd_dispatch._lives IS
'Returns whether a backend that registered at p_registration_time with p_ttl lives at p_at. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._lives TO omd_reader;
