-- A partition in which tasks were written within the retention is kept, and so is the one that is
-- about to be written.

CREATE OR REPLACE FUNCTION omd_dispatch._partitions_past_retention(
    p_family_code text
)
RETURNS integer[]
LANGUAGE plpgsql
VOLATILE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $partitions_past_retention$
DECLARE
    v_family omd_dispatch.task_conf_family_desc := omd_dispatch._require_family(p_family_code);
    v_period interval;
    v_partition integer;
    v_is_filled boolean;
    v_partitions integer[] := '{}'::integer[];
BEGIN
    SELECT s.period INTO v_period
    FROM omd_dispatch.task_conf_partition_scheme AS s
    WHERE s.scheme_code = v_family.scheme_code;
    FOR v_partition IN
        SELECT n FROM generate_series(0, v_family.partition_count - 1) AS n
        EXCEPT
        SELECT omd_dispatch._partition_code(v_family.scheme_code, v_family.partition_count, at)
        FROM (
            SELECT generate_series(
                clock_timestamp() - v_family.retention, clock_timestamp(), v_period
            ) AS at
            UNION ALL
            SELECT clock_timestamp()
            UNION ALL
            SELECT clock_timestamp() + interval '1 hour'
        ) AS kept
        ORDER BY 1
    LOOP
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM %s)',
            omd_dispatch._data_table(p_family_code, '_p' || v_partition)
        ) INTO v_is_filled;
        IF v_is_filled THEN
            v_partitions := v_partitions || v_partition;
        END IF;
    END LOOP;
    RETURN v_partitions;
END
$partitions_past_retention$;

COMMENT ON FUNCTION omd_dispatch._partitions_past_retention IS
'Returns the partitions of p_family_code that hold tasks and are past its retention. Errors: '
'OM005: p_family_code is NULL; OM070: it is unknown. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._partitions_past_retention TO omd_admin;
