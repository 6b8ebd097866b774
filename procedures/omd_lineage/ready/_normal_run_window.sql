-- The window is stored with its time zone, so that it means the same in every session; also where
-- the session has it from an offset, whose sign is easily misread (omd.is_time_zone).

CREATE OR REPLACE FUNCTION omd_lineage._normal_run_window(
    p_run_window text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $normal_run_window$
DECLARE
    v_part text[] := regexp_match(
        p_run_window, '^\s*(\d{1,2}:\d\d)\s*-\s*(\d{1,2}:\d\d)(?:\s+(\S+))?\s*$'
    );
    v_zone text := coalesce(v_part[3], current_setting('TimeZone'));
BEGIN
    IF p_run_window IS NULL OR p_run_window ~ '^\s*$' THEN
        RETURN trim(p_run_window);
    END IF;
    BEGIN
        IF v_part IS NOT NULL AND omd.is_time_zone(v_zone) THEN
            RETURN to_char(v_part[1]::time, 'HH24:MI') || '-' || to_char(v_part[2]::time, 'HH24:MI')
                || ' ' || v_zone;
        END IF;
    EXCEPTION
        WHEN data_exception THEN
            v_part := NULL;
    END;
    PERFORM omd.raise_error(
        'OM013',
        jsonb_build_object(
            'argument', 'p_run_window',
            'value', CASE
                WHEN v_part IS NOT NULL AND v_part[3] IS NULL THEN p_run_window || ' ' || v_zone
                ELSE p_run_window
            END,
            'expected', 'like 22:00-06:00 or 22:00-06:00 Europe/Amsterdam, in a time zone whose '
            'name is in pg_timezone_names'
        )
    );
    RETURN NULL;
END
$normal_run_window$;

COMMENT ON FUNCTION omd_lineage._normal_run_window IS
'Returns the run window p_run_window as HH:MM-HH:MM zone, with the time zone of the session when '
'it names none; NULL and '''' stay as they are. Errors: OM013: it is not a run window. Locks: '
'none.';
