-- Whoever writes it sees all that is wrong in one pass.

CREATE OR REPLACE FUNCTION omd_delivery._arrival_problems(
    p_agreement omd_delivery.agreement,
    p_arrival jsonb
)
RETURNS TABLE (path text, problem text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $arrival_problems$
DECLARE
    v_folder text;
    v_parts text[];
    v_order CONSTANT text[] := ARRAY['yyyy', 'MM', 'dd', 'HH', 'mm', 'ss'];
    v_ready CONSTANT jsonb := p_arrival -> 'ready';
BEGIN
    IF jsonb_typeof(p_arrival) <> 'object' THEN
        RETURN QUERY SELECT '', 'it must be an object';
        RETURN;
    END IF;
    RETURN QUERY
    SELECT k.key, 'there is no such key'
    FROM jsonb_object_keys(p_arrival) AS k (key)
    WHERE k.key NOT IN ('location', 'folder', 'zone', 'ready', 'then', 'loads', 'every');
    IF p_agreement.layer_code <> 'LVL' THEN
        RETURN QUERY SELECT '', 'nothing arrives under an agreement of the layer '
            || p_agreement.layer_code;
    END IF;
    RETURN QUERY
    SELECT 'location', l.problem
    FROM omd_delivery._location_problem(p_arrival -> 'location') AS l (problem)
    WHERE l.problem IS NOT NULL;

    IF p_arrival ? 'folder' THEN
        v_folder := CASE
            WHEN jsonb_typeof(p_arrival -> 'folder') = 'string' THEN p_arrival ->> 'folder'
        END;
        v_parts := (omd_delivery._folder_pattern(v_folder)).parts;
        RETURN QUERY
        SELECT 'folder', f.problem
        FROM (
            VALUES (
                CASE
                    WHEN coalesce(v_folder, '') = '' THEN 'it must be a pattern of names'
                    WHEN strpos(v_folder, '/') > 0 THEN 'it is a name, and has no /'
                    WHEN EXISTS (SELECT FROM unnest(v_parts) AS p (part) WHERE p.part <> ALL(v_order))
                        OR strpos(v_folder, '{}') > 0
                        THEN 'in braces it may have yyyy, MM, dd, HH, mm, ss and *'
                    WHEN 'yyyy' = ANY(v_parts) IS NOT TRUE THEN 'it must have {yyyy}'
                    WHEN cardinality(v_parts) > (
                        SELECT count(DISTINCT p.part) FROM unnest(v_parts) AS p (part)
                    ) THEN 'it has a part of the time twice'
                    WHEN NOT v_parts @> v_order[1:cardinality(v_parts)]
                        THEN 'it has a part of the time without the one above it'
                END
            )
        ) AS f (problem)
        WHERE f.problem IS NOT NULL;
    END IF;
    IF p_arrival ? 'zone' AND NOT EXISTS (
        SELECT FROM pg_timezone_names AS z WHERE to_jsonb(z.name) = p_arrival -> 'zone'
    ) THEN
        RETURN QUERY SELECT 'zone', 'there is no such time zone';
    END IF;

    IF p_arrival ? 'ready' THEN
        IF jsonb_typeof(v_ready) <> 'object'
            OR (SELECT count(*) <> 1 FROM jsonb_object_keys(
                CASE jsonb_typeof(v_ready) WHEN 'object' THEN v_ready ELSE '{}' END
            ))
            OR NOT v_ready ?| ARRAY['marker', 'quiet', 'manifest']
        THEN
            RETURN QUERY SELECT 'ready', 'it is one of marker, quiet and manifest';
        ELSIF v_ready ? 'quiet' THEN
            RETURN QUERY
            SELECT 'ready.quiet', q.problem
            FROM omd_delivery._interval_problem(v_ready -> 'quiet') AS q (problem)
            WHERE q.problem IS NOT NULL;
        ELSE
            RETURN QUERY
            SELECT 'ready.' || r.key, 'it must be the name of a file in the folder'
            FROM jsonb_each(v_ready) AS r
            WHERE jsonb_typeof(r.value) <> 'string'
                OR NOT omd_delivery._is_file_path(r.value #>> '{}')
                OR strpos(r.value #>> '{}', '/') > 0;
        END IF;
    END IF;
    IF p_arrival ? 'then' AND p_arrival -> 'then' <> '"KEEP"' AND NOT (
        jsonb_typeof(p_arrival -> 'then') = 'object'
        AND (p_arrival -> 'then') - 'move' = '{}'
        AND jsonb_typeof(p_arrival #> '{then,move}') IS NOT DISTINCT FROM 'string'
        AND omd_delivery._is_file_path(p_arrival #>> '{then,move}')
    ) THEN
        RETURN QUERY SELECT 'then', 'it is "KEEP", or {"move": a folder below the location}';
    END IF;
    IF p_arrival ? 'every' THEN
        RETURN QUERY
        SELECT 'every', e.problem
        FROM omd_delivery._interval_problem(p_arrival -> 'every') AS e (problem)
        WHERE e.problem IS NOT NULL;
    END IF;

    IF p_arrival ? 'loads' AND jsonb_typeof(p_arrival -> 'loads') <> 'object' THEN
        RETURN QUERY SELECT 'loads', 'it must be an object of entity and load';
    ELSIF p_arrival -> 'loads' <> '{}' THEN
        BEGIN
            PERFORM FROM omd_delivery._delivered_entities(p_agreement, p_arrival -> 'loads');
        EXCEPTION
            WHEN SQLSTATE 'OM036' THEN
                RETURN QUERY SELECT 'loads', SQLERRM;
        END;
    END IF;
END
$arrival_problems$;

COMMENT ON FUNCTION omd_delivery._arrival_problems IS
'Returns what is wrong with p_arrival for the agreement p_agreement, each with its path. Locks: '
'none.';
