-- Only nodes without code are taken, so that a model is data that anybody may read and change.

CREATE OR REPLACE FUNCTION omd_decision._model_problems(
    p_model jsonb
)
RETURNS TABLE (
    path text,
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $model_problems$
BEGIN
    IF jsonb_typeof(p_model) IS DISTINCT FROM 'object'
        OR jsonb_typeof(p_model -> 'nodes') IS DISTINCT FROM 'array'
        OR jsonb_typeof(p_model -> 'edges') IS DISTINCT FROM 'array'
    THEN
        RETURN QUERY SELECT 'content', 'expected: a decision model, an object with nodes and edges';
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE node AS (
        SELECT
            n.item ->> 'id' AS id,
            n.item ->> 'type' AS type,
            format('content.nodes[%s]', n.ordinal - 1) AS path
        FROM omd.json_items(p_model -> 'nodes') AS n
    ),

    edge AS (
        SELECT
            e.item ->> 'sourceId' AS source_id,
            e.item ->> 'targetId' AS target_id,
            format('content.edges[%s]', e.ordinal - 1) AS path
        FROM omd.json_items(p_model -> 'edges') AS e
    ),

    -- What no chain of edges from a node without a source reaches lies on a cycle, or behind one.
    ordered (ids, round) AS (
        SELECT
            ARRAY(
                SELECT n.id FROM node AS n
                WHERE NOT EXISTS (SELECT FROM edge AS e WHERE e.target_id = n.id)
            ),
            0
        UNION ALL
        SELECT more.ids, o.round + 1
        FROM ordered AS o
        CROSS JOIN LATERAL (
            SELECT
                o.ids || ARRAY(
                    SELECT n.id FROM node AS n
                    WHERE n.id <> ALL(o.ids)
                        AND NOT EXISTS (
                            SELECT FROM edge AS e
                            WHERE e.target_id = n.id AND e.source_id <> ALL(o.ids)
                        )
                ) AS ids
        ) AS more
        WHERE cardinality(more.ids) > cardinality(o.ids)
    )

    SELECT
        n.path || '.type',
        'expected: inputNode, outputNode, expressionNode, decisionTableNode or switchNode'
    FROM node AS n
    WHERE (
        n.type IN (
            'inputNode', 'outputNode', 'expressionNode', 'decisionTableNode', 'switchNode'
        )
    ) IS NOT TRUE
    UNION ALL
    SELECT n.path || '.id', 'expected: a text that no other node has'
    FROM node AS n
    WHERE n.id IS NULL OR (SELECT count(*) FROM node AS o WHERE o.id = n.id) > 1
    UNION ALL
    SELECT 'content.nodes', 'expected: exactly one inputNode'
    WHERE (SELECT count(*) FROM node AS n WHERE n.type = 'inputNode') <> 1
    UNION ALL
    SELECT e.path, 'it joins a node that is not there'
    FROM edge AS e
    WHERE NOT EXISTS (SELECT FROM node AS n WHERE n.id = e.source_id)
        OR NOT EXISTS (SELECT FROM node AS n WHERE n.id = e.target_id)
    UNION ALL
    SELECT 'content.edges', 'the nodes form a cycle'
    WHERE (
        SELECT max(cardinality(o.ids)) FROM ordered AS o
    ) < (SELECT count(*) FROM node AS n WHERE n.id IS NOT NULL)
        AND NOT EXISTS (
            SELECT FROM edge AS e
            WHERE NOT EXISTS (SELECT FROM node AS n WHERE n.id = e.source_id)
        );
END
$model_problems$;

COMMENT ON FUNCTION omd_decision._model_problems IS
'Returns what is wrong with the JSON decision model p_model: path and text. Locks: none.';
