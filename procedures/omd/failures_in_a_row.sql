-- It walks back to the last success, and not far: whoever asks gives up long before a hundred.

CREATE OR REPLACE FUNCTION omd.failures_in_a_row(
    p_module_id integer,
    OUT p_failures bigint,
    OUT p_last_failure timestamptz
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH ended AS (
        SELECT
            mi.module_instance_id,
            mi.execution_status_code,
            mi.end_datetime
        FROM omd.module_instance AS mi
        WHERE mi.module_id = p_module_id AND mi.execution_status_code IN ('S', 'F')
        ORDER BY mi.module_instance_id DESC
        LIMIT 100
    )

    SELECT
        count(*) AS p_failures,
        max(e.end_datetime) AS p_last_failure
    FROM ended AS e
    WHERE e.module_instance_id > coalesce(
        (SELECT max(s.module_instance_id) FROM ended AS s WHERE s.execution_status_code = 'S'), 0
    );
END;

COMMENT ON FUNCTION omd.failures_in_a_row IS
'For rooms: Returns how many runs of the Module p_module_id have failed since the last that '
'succeeded (p_failures, 100 at most), and when the last of them ended (p_last_failure). Locks: '
'none.';
REVOKE ALL ON FUNCTION omd.failures_in_a_row FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.failures_in_a_row TO omd_reader;
