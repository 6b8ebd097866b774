-- The planner inlines the body, as it does that of in_block. The arithmetic is exact for every
-- timestamptz: an interval of days and less than a day of seconds loses no microsecond, while one
-- product of microseconds would be rounded. A text that is no number is infinity, or the block of a
-- step that began before an upgrade of OMD.

CREATE OR REPLACE FUNCTION omd_lineage._block_pos(
    p_setting text
)
RETURNS timestamptz
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_setting ~ '^-?[0-9]+$'
                THEN
                    (
                        timestamp 'epoch' + make_interval(
                            days => div(p_setting::numeric, 86400000000)::integer,
                            secs => (mod(p_setting::numeric, 86400000000) / 1000000)::float8
                        )
                    ) AT TIME ZONE 'UTC'
            ELSE nullif(p_setting, '')::timestamptz
        END;
END;

COMMENT ON FUNCTION omd_lineage._block_pos IS
'Returns the time that p_setting, a setting of _write_block, holds in microseconds since '
'1970-01-01 UTC, or as infinity; NULL when it is empty. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._block_pos TO omd_reader;
