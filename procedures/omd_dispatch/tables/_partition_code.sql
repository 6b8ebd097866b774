-- The ring of partitions is in UTC, so that no time zone of a session makes it write to a partition
-- that is about to be purged. Without a time zone of the session it is immutable, so callers inline
-- it.

CREATE OR REPLACE FUNCTION omd_dispatch._partition_code(
    p_scheme_code text,
    p_partition_count integer,
    p_at timestamptz
)
RETURNS integer
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (
            CASE p_scheme_code
                WHEN 'DAY_RING' THEN floor(extract(EPOCH FROM p_at AT TIME ZONE 'UTC') / 86400)
                -- 1970-01-05 was a Monday.
                WHEN 'WEEK_RING'
                    THEN floor((extract(EPOCH FROM p_at AT TIME ZONE 'UTC') - 4 * 86400) / 604800)
            END::bigint % p_partition_count
        )::integer;
END;

COMMENT ON FUNCTION omd_dispatch._partition_code IS
'Returns the partition of the ring of p_partition_count partitions in which tasks are written at '
'p_at. DAY_RING: the number of the UTC day. WEEK_RING: the number of the UTC week, from Monday. '
'Locks: none.';
