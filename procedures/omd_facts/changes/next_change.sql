-- A reader is behind by the age of the oldest change that he has not read.

CREATE OR REPLACE FUNCTION omd_facts.next_change(
    p_source_code text,
    p_pos timestamptz,
    p_id bigint
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_change$
DECLARE
    v_interface_id integer;
    v_after CONSTANT bigint := CASE
        WHEN p_id > -9223372036854775808 THEN p_id
        WHEN p_pos > '-infinity' THEN omd_facts.change_at(p_source_code, p_pos)
    END;
BEGIN
    SELECT i.interface_id INTO v_interface_id
    FROM omd_facts.interface AS i
    WHERE i.interface_code = substr(p_source_code, 7);
    RETURN (
        SELECT c.change_datetime
        FROM omd_facts.change AS c
        WHERE c.interface_id = v_interface_id AND c.change_id > coalesce(v_after, 0)
        ORDER BY c.change_id
        LIMIT 1
    );
END
$next_change$;

COMMENT ON FUNCTION omd_facts.next_change IS
'For rooms: Returns when the oldest change of the source p_source_code (facts.<interface>) behind '
'p_pos and p_id was made; NULL: there is none. Locks: none.';
