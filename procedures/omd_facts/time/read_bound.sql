-- T lies in the past, and a later delivery brings what is behind the traveling now and before the
-- clock. So nobody may take it that rows by T are complete up to the clock. What does not bear T is
-- an attribute, of which this room knows nothing.

CREATE OR REPLACE FUNCTION omd_facts.read_bound(
    p_table_code text,
    p_column_name text
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $read_bound$
DECLARE
    v_traveling_now timestamptz;
BEGIN
    IF p_table_code IS NULL
        OR p_column_name NOT IN ('acm_start_dt', 'acm_latest_start_dt', 'acm_last_created_dt')
    THEN
        RETURN NULL;
    END IF;
    SELECT coalesce(i.traveling_now, '-infinity') INTO v_traveling_now
    FROM omd_facts.interface AS i
    WHERE i.interface_code = substring(
        (parse_ident(p_table_code))[1] FROM '^(?:gdal|asof|history|changes|cfl)_(.*)$'
    );
    RETURN v_traveling_now;
END
$read_bound$;

COMMENT ON FUNCTION omd_facts.read_bound IS
'For rooms: Returns up to which transaction time the facts of the table or view p_table_code may '
'be read by their column p_column_name: the traveling now of its interface, -infinity before its '
'first load. p_column_name NULL: it is not known by which. Returns NULL for a relation that is '
'none of an interface, and for a column that bears no transaction time. Locks: none.';
