-- Several machines work at one agreement, so a path means the same on each of them.

CREATE OR REPLACE FUNCTION omd_delivery._location_problem(
    p_location jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE
        WHEN
            p_location IS NULL
            OR jsonb_typeof(p_location) <> 'string'
            OR p_location #>> '{}' !~ '\S'
            THEN 'it must name a folder'
        WHEN p_location #>> '{}' ~ '[[:cntrl:]]' THEN 'it has a control character'
        WHEN p_location #>> '{}' !~ '^(/|[A-Za-z][A-Za-z0-9+.-]+:.)'
            THEN 'it must be a path from the root, or a URI'
    END;
END;

COMMENT ON FUNCTION omd_delivery._location_problem IS
'Returns why p_location is no folder that can be agreed; NULL: it is one. Locks: none.';
