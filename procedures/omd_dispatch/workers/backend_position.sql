-- The order is that of the bytes, so that backends on servers of any locale agree.

CREATE OR REPLACE FUNCTION omd_dispatch.backend_position(
    p_backend_type text,
    p_backend_id text
)
RETURNS TABLE (
    "position" integer, -- noqa: RF06
    members integer
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $backend_position$
BEGIN
    RETURN QUERY
    SELECT
        (count(*) FILTER (WHERE b.backend_id COLLATE "C" < p_backend_id))::integer AS place,
        count(*)::integer AS members
    FROM omd_dispatch.backend_registration AS b
    WHERE
        b.backend_type = p_backend_type
        AND omd_dispatch._lives(b.registration_time, b.ttl, statement_timestamp())
    HAVING bool_or(b.backend_id = p_backend_id);
END
$backend_position$;

COMMENT ON FUNCTION omd_dispatch.backend_position IS
'For rooms: '
'One row or none: position, that of p_backend_id, from 0, among the living backends of the group '
'p_backend_type, and members, their number. There is no row for one that does not live. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_dispatch.backend_position TO omd_reader;
