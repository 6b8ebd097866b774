-- A second after the first failure, five minutes at most.

CREATE OR REPLACE FUNCTION omd_dispatch._backoff(
    p_attempt integer
)
RETURNS interval
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT interval '1 second' * least(power(2, least(p_attempt, 10) - 1), 300);
END;

COMMENT ON FUNCTION omd_dispatch._backoff IS
'Returns how long a schedule waits after its failure number p_attempt. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._backoff TO omd_runner, omd_admin;
