-- A load takes a second, a minute, an hour; nobody needs more than a factor of about four.

CREATE OR REPLACE FUNCTION omd_event._run_seconds_buckets()
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT '{0.1,0.5,1,5,15,60,300,900,3600,14400,86400,+Inf}'::text[];
END;

COMMENT ON FUNCTION omd_event._run_seconds_buckets IS
'Returns the bounds of the histogram omd_run_seconds, in seconds, as Prometheus writes them. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event._run_seconds_buckets TO omd_reader;
