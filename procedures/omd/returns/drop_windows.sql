-- Rows that come as new ones are not taken again besides.

CREATE OR REPLACE FUNCTION omd.drop_windows(
    p_module_id integer,
    p_from_value timestamptz DEFAULT NULL,
    p_from_id bigint DEFAULT NULL
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_windows$
DECLARE
    v_former bigint[];
BEGIN
    WITH ended AS (
        UPDATE omd.window_return AS w SET ended_datetime = clock_timestamp()
        WHERE w.module_id = p_module_id
            AND w.ended_datetime IS NULL
            AND (
                p_from_value IS NULL
                OR (w.start_value, w.start_id) >= (p_from_value, p_from_id)
            )
        RETURNING w.former_instances
    )

    SELECT array_agg(DISTINCT f.id) INTO v_former
    FROM ended AS e
    CROSS JOIN LATERAL unnest(e.former_instances) AS f (id);
    UPDATE omd.window_return AS w SET end_value = p_from_value, end_id = p_from_id
    WHERE w.module_id = p_module_id
        AND w.ended_datetime IS NULL
        AND (w.end_value, w.end_id) > (p_from_value, p_from_id);
    RETURN coalesce(v_former, '{}');
END
$drop_windows$;

COMMENT ON FUNCTION omd.drop_windows IS
'For rooms: Ends the entries of windows of the Module p_module_id that were to be taken again and '
'begin at p_from_value and p_from_id or later (NULL: all), since they come as new ones; one that '
'begins earlier ends there. Returns the runs whose windows they were. Locks: the entries.';
