-- All commits of a transaction have one time, so that tables read as of an instant fit together.
-- For one table times never go back, whatever the clock does: its commits are made one after the
-- other, and the caller holds its lock. The time of a call before is taken from a setting, which
-- anybody can set; it is believed only where it lies in this transaction.

CREATE OR REPLACE FUNCTION omd_lake._commit_time(
    p_tables text[]
)
RETURNS timestamptz
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
SET timezone = 'UTC'
AS $commit_time$
DECLARE
    v_given timestamptz;
    v_time timestamptz := clock_timestamp();
BEGIN
    v_given := nullif(current_setting('omd_lake.commit_time', TRUE), '')::timestamptz;
    IF v_given BETWEEN now() AND v_time THEN
        v_time := v_given;
    END IF;
    SELECT greatest(v_time, max(n.commit_datetime) + interval '1 microsecond') INTO v_time
    FROM unnest(p_tables) AS t (table_code)
    CROSS JOIN LATERAL (
        SELECT c.commit_datetime FROM omd_lake.table_commit AS c
        WHERE c.table_code = t.table_code
            AND c.commit_datetime IS DISTINCT FROM v_given
        ORDER BY c.commit_datetime DESC
        LIMIT 1
    ) AS n;
    PERFORM set_config('omd_lake.commit_time', v_time::text, TRUE);
    RETURN v_time;
END
$commit_time$;

COMMENT ON FUNCTION omd_lake._commit_time IS
'Returns the time of the commits of the tables p_tables that this transaction makes: later than '
'every earlier commit of them, and that of a call before in this transaction where it can be. '
'Locks: none.';
