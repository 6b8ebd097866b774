-- A modeller mends a document once, so every problem is reported at once.

CREATE OR REPLACE FUNCTION omd_delivery._model_problems(
    p_model jsonb
)
RETURNS TABLE (
    path text,
    problem text
)
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
BEGIN ATOMIC
    SELECT
        s.path,
        s.problem
    FROM omd_delivery._model_nodes(p_model) AS n
    CROSS JOIN LATERAL omd_delivery._shape_problems(n.level, n.path, n.node) AS s
    UNION
    SELECT
        c.path,
        c.problem
    FROM omd_delivery._content_problems(p_model) AS c
    UNION
    SELECT
        o.path || '.check' AS path,
        omd_delivery._check_problem(
            o.definition ->> 'check', o.definition ->> 'attribute', c.types
        ) AS problem
    FROM omd_delivery._model_objects(p_model) AS o
    CROSS JOIN
        LATERAL (
            SELECT jsonb_object_agg(a.object_code, a.definition -> 'type') AS types
            FROM omd_delivery._model_objects(p_model) AS a
            WHERE
                a.kind = 'attribute'
                AND a.entity_code = o.entity_code
                AND a.object_code IS NOT NULL
                AND NOT (a.definition -> 'retired')::boolean
        ) AS c
    WHERE
        o.kind = 'constraint' AND o.definition ->> 'check' !~ '^[[:space:]]*$'
        AND o.definition ->> 'type' IN ('value', 'record')
        AND omd_delivery._check_problem(
            o.definition ->> 'check', o.definition ->> 'attribute', c.types
        ) IS NOT NULL
        -- That the type of an attribute is wrong is reported already.
        AND NOT EXISTS (
            SELECT FROM omd_delivery._check_tokens(o.definition ->> 'check') AS w
            WHERE w.kind IN ('word', 'quoted') AND c.types -> w.word = 'null'
        );
END;

COMMENT ON FUNCTION omd_delivery._model_problems IS
'Returns every problem of the model document p_model with its path. Locks: none.';
