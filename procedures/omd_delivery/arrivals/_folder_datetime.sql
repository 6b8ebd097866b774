-- A name that gives no day of the calendar gives no time; it is asked for each folder, so it raises
-- nothing that would have to be caught.

CREATE OR REPLACE FUNCTION omd_delivery._folder_datetime(
    p_folder text,
    p_expression text,
    p_parts text[],
    p_zone text
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $folder_datetime$
DECLARE
    v_match CONSTANT text[] := regexp_match(p_folder, p_expression);
    v_year integer;
    v_month integer;
    v_day integer;
    v_hour integer;
    v_minute integer;
    v_second integer;
BEGIN
    IF v_match IS NULL THEN
        RETURN NULL;
    END IF;
    v_year := v_match[array_position(p_parts, 'yyyy')]::integer;
    v_month := coalesce(v_match[array_position(p_parts, 'MM')]::integer, 1);
    v_day := coalesce(v_match[array_position(p_parts, 'dd')]::integer, 1);
    v_hour := coalesce(v_match[array_position(p_parts, 'HH')]::integer, 0);
    v_minute := coalesce(v_match[array_position(p_parts, 'mm')]::integer, 0);
    v_second := coalesce(v_match[array_position(p_parts, 'ss')]::integer, 0);
    IF v_year < 1 OR NOT v_month BETWEEN 1 AND 12 OR v_day < 1
        OR v_hour > 23 OR v_minute > 59 OR v_second > 59
    THEN
        RETURN NULL;
    ELSIF v_day > date_part(
        'day', make_date(v_year, v_month, 1) + interval '1 month' - interval '1 day'
    ) THEN
        RETURN NULL;
    END IF;
    RETURN make_timestamptz(v_year, v_month, v_day, v_hour, v_minute, v_second, p_zone);
END
$folder_datetime$;

COMMENT ON FUNCTION omd_delivery._folder_datetime IS
'Returns the time that the name p_folder gives in the zone p_zone by p_expression and p_parts, '
'which omd_delivery._folder_pattern returns; NULL: it gives none. Locks: none.';
