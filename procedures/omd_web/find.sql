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
    IF p_text IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_text'));
    END IF;
    PERFORM omd_web._require_count('p_limit', p_limit);
    IF v_text = '' THEN
        RETURN;
    END IF;
    -- Longer ones are no id: a bigint has 19 digits.
    IF v_text ~ '^[0-9]{1,40}$' AND v_text::numeric <= 9223372036854775807 THEN
        v_id := v_text::bigint;
    END IF;
    RETURN QUERY
    WITH definition (object_kind, key, name, detail) AS (
        SELECT
            'MODULE',
            m.module_code,
            m.module_code,
            concat_ws(
                ', ',
                m.module_kind_code,
                'writes ' || m.table_code,
                CASE m.inactive_indicator WHEN 'Y' THEN 'inactive' END
            )
        FROM omd.module AS m
        UNION ALL
        SELECT
            'BATCH',
            b.batch_code,
            b.batch_code,
            concat_ws(
                ', ', b.batch_description, CASE b.inactive_indicator WHEN 'Y' THEN 'inactive' END
            )
        FROM omd.batch AS b
        UNION ALL
        SELECT 'TOPIC', t.topic, t.topic, t.engine
        FROM omd_lineage.topic AS t
        UNION ALL
        SELECT 'TASK_TYPE', y.family_code || '/' || y.task_type, y.task_type, y.deliver_id
        FROM omd_dispatch.task_conf_type_desc AS y
        UNION ALL
        SELECT 'SCHEDULE', s.schedule_code, s.schedule_code, s.family_code || '/' || s.task_type
        FROM omd_dispatch.task_schedule AS s
        UNION ALL
        SELECT 'INTERFACE', i.interface_code, i.interface_code, NULL
        FROM omd_delivery.interface AS i
        UNION ALL
        SELECT 'AGREEMENT', a.agreement_code, a.agreement_code, i.interface_code
        FROM omd_delivery.agreement AS a
        INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
        UNION ALL
        SELECT
            'ENTITY',
            i.interface_code || '/' || e.entity_code,
            e.entity_code,
            'of interface ' || i.interface_code
        FROM omd_facts.entity AS e
        INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
        UNION ALL
        SELECT 'STAGE', g.stage_code, g.stage_code, NULL
        FROM omd_decision.stage AS g
        UNION ALL
        SELECT 'RULESET', r.ruleset_code, r.ruleset_code, NULL
        FROM omd_decision.ruleset AS r
        UNION ALL
        SELECT 'LAKE_TABLE', l.table_code, l.table_code, NULL
        FROM (
            SELECT quote_ident(c.table_namespace) || '.' || quote_ident(c.table_name) AS table_code
            FROM omd_lake.iceberg_tables AS c
            WHERE c.catalog_name = 'omd' AND c.iceberg_type IS DISTINCT FROM 'VIEW'
        ) AS l
    ),

    found AS (
        SELECT
            d.object_kind,
            d.key,
            d.key AS title,
            d.detail,
            CASE
                WHEN v_text IN (d.key, d.name) THEN 1
                WHEN starts_with(lower(d.key), v_lower) OR starts_with(lower(d.name), v_lower)
                    THEN 2
                WHEN strpos(lower(d.key), v_lower) > 0 THEN 3
                WHEN d.object_kind = 'MODULE' AND strpos(lower(d.detail), v_lower) > 0 THEN 3
            END AS rank
        FROM definition AS d
        UNION ALL
        SELECT o.object_kind, v_id::text, o.title, o.detail, 1
        FROM omd_web._find_id(v_id) AS o
        WHERE v_id IS NOT NULL
    )

    SELECT f.object_kind, f.key, f.title, f.detail, f.rank
    FROM found AS f
    WHERE f.rank IS NOT NULL
    ORDER BY f.rank, f.object_kind, f.key
    LIMIT p_limit;
END
$find$;

COMMENT ON FUNCTION omd_web.find IS
'Returns what p_text may mean, the best first: the objects of all rooms that have this id, and the '
'definitions with this code. rank: 1: the id, or the code to the letter; 2: the code begins with '
'it; 3: it stands in the code, or in what a Module writes. Case counts for rank 1 only. p_limit: '
'how many rows. Errors: OM005: p_text is NULL; OM013: p_limit is below 1. Locks: none. May be '
'NULL: detail.';
REVOKE ALL ON FUNCTION omd_web.find FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_web.find TO omd_reader;
