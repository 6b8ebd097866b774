-- People write codes in any case; the tables have one spelling.

CREATE OR REPLACE FUNCTION omd.require_code(
    p_kind text,
    p_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_code$
DECLARE
    v_codes text[];
    v_code text;
BEGIN
    IF p_code IS NULL THEN
        RETURN NULL;
    END IF;

    v_codes := CASE p_kind
        WHEN 'area' THEN ARRAY(SELECT a.area_code FROM omd.area AS a ORDER BY 1)
        WHEN 'layer' THEN ARRAY(SELECT l.layer_code FROM omd.layer AS l ORDER BY 1)
        WHEN 'frequency' THEN ARRAY(SELECT f.frequency_code FROM omd.frequency AS f ORDER BY 1)
        WHEN 'table type' THEN ARRAY(SELECT t.table_type_code FROM omd.table_type AS t ORDER BY 1)
        WHEN 'platform' THEN ARRAY(SELECT p.platform_code FROM omd.platform AS p ORDER BY 1)
        WHEN 'table format' THEN ARRAY(
            SELECT f.table_format_code FROM omd.table_format AS f ORDER BY 1
        )
        WHEN 'event type' THEN ARRAY(
            SELECT e.event_type_code::text FROM omd.event_type AS e ORDER BY 1
        )
        WHEN 'next run indicator' THEN
            ARRAY(SELECT n.next_run_indicator FROM omd.next_run_indicator AS n ORDER BY 1)
        WHEN 'inactive indicator' THEN ARRAY['N', 'Y']
    END;

    SELECT c INTO v_code
    FROM unnest(v_codes) AS c
    WHERE upper(c) = upper(p_code)
    ORDER BY c <> p_code
    LIMIT 1;

    IF v_code IS NULL THEN
        PERFORM omd.raise_error(
            'OM006',
            jsonb_build_object(
                'kind', p_kind, 'code', p_code, 'codes', array_to_string(v_codes, ', ')
            )
        );
    END IF;
    RETURN v_code;
END
$require_code$;

COMMENT ON FUNCTION omd.require_code IS
'For rooms: Returns the registered spelling of p_code among the codes of p_kind (area, layer, '
'frequency, table type, platform, table format, event type, next run indicator, inactive '
'indicator); case does not matter. It returns NULL for NULL. Errors: OM006. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.require_code TO omd_admin;
