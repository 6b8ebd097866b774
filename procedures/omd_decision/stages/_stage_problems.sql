-- All problems are found in one pass, so that a person mends a document once.

CREATE OR REPLACE FUNCTION omd_decision._stage_problems(
    p_stage jsonb
)
RETURNS TABLE (
    path text,
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stage_problems$
DECLARE
    v_stage jsonb := omd_decision._with_defaults(p_stage);
    v_insert_column text;
BEGIN
    RETURN QUERY
    SELECT s.* FROM omd_decision._shape_problems('stage', '', p_stage) AS s
    UNION ALL
    SELECT s.*
    FROM omd_decision._named_items(p_stage -> 'keys', 'keys', 'column') AS k
    CROSS JOIN LATERAL omd_decision._shape_problems('key', k.path, k.item) AS s
    UNION ALL
    SELECT s.* FROM omd_decision._shape_problems('start', 'start', p_stage -> 'start') AS s
    WHERE jsonb_typeof(p_stage -> 'start') = 'object'
    UNION ALL
    SELECT s.* FROM omd_decision._shape_problems('window', 'window', p_stage -> 'window') AS s
    WHERE jsonb_typeof(p_stage -> 'window') = 'object'
    UNION ALL
    SELECT s.* FROM omd_decision._shape_problems('module', 'module', p_stage -> 'module') AS s
    WHERE jsonb_typeof(p_stage -> 'module') = 'object'
    UNION ALL
    SELECT s.*
    FROM omd_decision._named_items(p_stage -> 'links', 'links', 'name') AS l
    CROSS JOIN LATERAL (
        SELECT s.* FROM omd_decision._shape_problems('link', l.path, l.item) AS s
        UNION ALL
        SELECT s.*
        FROM omd_decision._shape_problems('reject', l.path || '.reject', l.item -> 'reject') AS s
        WHERE jsonb_typeof(l.item -> 'reject') = 'object'
    ) AS s
    UNION ALL
    SELECT s.*
    FROM omd_decision._named_items(p_stage -> 'outputs', 'outputs', 'name') AS o
    CROSS JOIN LATERAL (
        SELECT s.* FROM omd_decision._shape_problems('output', o.path, o.item) AS s
        UNION ALL
        SELECT s.*
        FROM omd_decision._shape_problems(
            'propagate', o.path || '.propagate', o.item -> 'propagate'
        ) AS s
        WHERE jsonb_typeof(o.item -> 'propagate') = 'object'
    ) AS s;

    RETURN QUERY
    SELECT
        u.path || '.' || u.property,
        format('%s "%s" is used by another of the %s too', u.property, u.value, u.list)
    FROM (
        SELECT
            p.list,
            i.path,
            p.property,
            i.item ->> p.property AS value,
            row_number() OVER (
                PARTITION BY p.list, p.property, i.item ->> p.property ORDER BY i.ordinal
            ) AS place
        FROM (
            VALUES
            ('links', 'name', 'name'), ('links', 'name', 'parameter'),
            ('outputs', 'name', 'name'), ('outputs', 'name', 'parameter'),
            ('outputs', 'name', 'table'), ('keys', 'column', 'column')
        ) AS p (list, known_by, property)
        CROSS JOIN LATERAL omd_decision._named_items(v_stage -> p.list, p.list, p.known_by) AS i
        WHERE jsonb_typeof(i.item -> p.property) = 'string'
    ) AS u
    WHERE u.place > 1;

    RETURN QUERY
    SELECT 'keys', 'BATCH has no keys' WHERE v_stage ->> 'mode' = 'BATCH' AND v_stage ? 'keys'
    UNION ALL
    SELECT 'keys', 'KEY needs at least one'
    WHERE v_stage ->> 'mode' = 'KEY' AND coalesce(v_stage -> 'keys', '[]') = '[]'
    UNION ALL
    -- One call of a function of the server has at most 100 arguments, and each has two.
    SELECT n.list, format('there are %s, and at most 50 are allowed', count(*))
    FROM (VALUES ('keys'), ('links')) AS n (list)
    CROSS JOIN LATERAL omd.json_items(v_stage -> n.list) AS i
    GROUP BY n.list
    HAVING count(*) > 50
    UNION ALL
    SELECT l.path || '.buffer', 'the first link is the primary one, and no buffer link'
    FROM omd_decision._named_items(v_stage -> 'links', 'links', 'name') AS l
    WHERE l.ordinal = 1 AND l.item -> 'buffer' = 'true'
    UNION ALL
    SELECT 'ruleset', format('ruleset "%s" is not defined', v_stage ->> 'ruleset')
    WHERE jsonb_typeof(v_stage -> 'ruleset') = 'string'
        AND NOT EXISTS (
            SELECT FROM omd_decision.ruleset AS r WHERE r.ruleset_code = v_stage ->> 'ruleset'
        )
    UNION ALL
    SELECT
        o.path || '.propagate.link',
        format('there is no link "%s"', o.item #>> '{propagate,link}')
    FROM omd_decision._named_items(v_stage -> 'outputs', 'outputs', 'name') AS o
    WHERE jsonb_typeof(o.item #> '{propagate,link}') = 'string'
        AND NOT EXISTS (
            SELECT FROM omd.json_items(v_stage -> 'links') AS l
            WHERE l.item ->> 'name' = o.item #>> '{propagate,link}'
        )
    UNION ALL
    SELECT o.path || '.propagate.by', 'KEY needs a stage in mode KEY, and no buffer link'
    FROM omd_decision._named_items(v_stage -> 'outputs', 'outputs', 'name') AS o
    WHERE o.item #>> '{propagate,by}' = 'KEY'
        AND (
            v_stage ->> 'mode' IS DISTINCT FROM 'KEY'
            OR EXISTS (
                SELECT FROM omd.json_items(v_stage -> 'links') AS l
                WHERE l.item ->> 'name' = o.item #>> '{propagate,link}'
                    AND l.item -> 'buffer' = 'true'
            )
        )
    UNION ALL
    SELECT
        'module.module_code',
        format('Module "%s" loads %s already', m.module_code, m.table_code)
        || coalesce(format(', for the stage "%s"', s.stage_code), '')
    FROM omd.module_target AS m
    LEFT JOIN omd_decision.stage AS s ON m.module_id = s.module_id
    WHERE m.module_code = v_stage #>> '{module,module_code}'
        AND s.stage_code IS DISTINCT FROM v_stage ->> 'stage'
        AND (
            s.stage_code IS NOT NULL
            OR m.platform_code <> 'POSTGRES'
            OR omd.quote_table(m.table_code, 'POSTGRES')
            IS DISTINCT FROM v_stage #>> '{outputs,0,table}'
        );

    RETURN QUERY SELECT p.path, p.text FROM omd_decision._link_problems(v_stage) AS p;
    RETURN QUERY SELECT p.path, p.text FROM omd_decision._window_problems(v_stage) AS p;
    SELECT m.insert_instance_column INTO v_insert_column
    FROM omd.module_target AS m
    WHERE m.module_code = v_stage #>> '{module,module_code}';
    RETURN QUERY
    SELECT p.*
    FROM omd_decision._output_problems(
        v_stage, coalesce(v_insert_column, 'omd_insert_module_instance_id')
    ) AS p;
END
$stage_problems$;

COMMENT ON FUNCTION omd_decision._stage_problems IS
'Returns every problem of the stage document p_stage: its path and a text. There is no row when '
'all is well. Locks: none.';
