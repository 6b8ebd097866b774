-- A person who mistypes, or who can't have a lock, has learned nothing about the Module. A worker
-- that meets the same would meet it again at once, so for it every failure counts: it calls
-- note_failure.

CREATE OR REPLACE FUNCTION omd.is_of_the_call(
    p_code text
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(p_code ~ '^OM0' OR p_code IN ('55P03', '40P01', '57014'), FALSE);
END;

COMMENT ON FUNCTION omd.is_of_the_call IS
'For rooms: Returns whether a begin that raised the code p_code does not count as a failure of its '
'Module when a person has called: a mistake of the caller, a lock, a deadlock or a cancel. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd.is_of_the_call TO omd_runner;
