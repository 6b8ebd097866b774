-- An id is looked up by primary key in each room. Codes are those of definitions, of which there
-- are as many as somebody has written; no table that grows with runs is searched. The text is
-- compared as it is: no sign in it is a pattern.

CREATE OR REPLACE FUNCTION omd_web.find(
    p_text text,
    p_limit integer DEFAULT 50
)
RETURNS TABLE (
    object_kind text,
    key text,
    title text,
    detail text,
    rank integer
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 50
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $find$
DECLARE
    v_text text := btrim(p_text, E' \t\r\n');
    v_lower text := lower(v_text);
    v_id bigint;
BEGIN
    p_text := omd.require_argument('p_text', p_text);
    PERFORM omd_web._require_count('p_limit', p_limit);
    IF v_text = '' THEN
        RETURN;
    END IF;
    -- Longer ones are no id: a bigint has 19 digits.
    IF v_text ~ '^[0-9]{1,40}$' AND v_text::numeric <= 9223372036854775807 THEN
        v_id := v_text::bigint;
    END IF;
    RETURN QUERY
    WITH found AS (
        SELECT
            d.object_kind,
            d.key,
            d.key AS title,
            d.detail,
            CASE
                WHEN v_text IN (d.key, d.name) THEN 1
                WHEN starts_with(lower(d.key), v_lower) OR starts_with(lower(d.name), v_lower)
                    THEN 2
                WHEN strpos(lower(d.key), v_lower) > 0 OR strpos(lower(d.also), v_lower) > 0
                    THEN 3
            END AS rank
        FROM omd_web.definition AS d
        UNION ALL
        SELECT n.object_kind, n.id::text, n.title, n.detail, 1
        FROM omd_web.numbered_object AS n
        WHERE n.id = v_id
        UNION ALL
        SELECT 'TASK', v_id::text, t.title, t.detail, 1
        FROM omd_web._find_task(v_id) AS t
    )

    SELECT f.object_kind, f.key, f.title, f.detail, f.rank
    FROM found AS f
    WHERE f.rank IS NOT NULL
    ORDER BY f.rank, f.object_kind, f.key
    LIMIT p_limit;
END
$find$;

COMMENT ON FUNCTION omd_web.find IS
'For rooms: '
'Returns what p_text may mean, the best first: the objects of all rooms that have this id, and the '
'definitions with this code. rank: 1: the id, or the code to the letter; 2: the code begins with '
'it; 3: it stands in the code, or in the name of the table that a Module writes. Case counts for '
'rank 1 only. p_limit: how many rows. Errors: OM005: an argument is NULL; OM013: p_limit is below '
'1. Locks: none. May be NULL: detail.';
GRANT EXECUTE ON FUNCTION omd_web.find TO omd_reader;
