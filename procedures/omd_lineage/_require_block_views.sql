-- A view without the condition in_block would insert the whole base table at each step. A view goes
-- on to read a table that was renamed, while the block is planned in the table that has its name
-- now. The catalogue knows by OID what a view depends on, also through views and SQL functions with
-- BEGIN ATOMIC; it does not know what any other function reads. Each step looks, and to plan the
-- query each time would take ten times as long as the look.

CREATE OR REPLACE FUNCTION omd_lineage._require_block_views(
    p_topic text,
    p_base_table text,
    p_transforms text[],
    p_is_recompute boolean
)
RETURNS oid
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $require_block_views$
DECLARE
    v_base_table oid := omd.target_relation(p_base_table);
    v_wrong record;
BEGIN
    -- A view may be created after its topic, and so may the base table.
    WITH RECURSIVE object AS (
        SELECT v.n, 'pg_class'::regclass::oid AS class_id, r.object_id
        FROM unnest(p_transforms) WITH ORDINALITY AS v (name, n)
        CROSS JOIN LATERAL omd.target_relation(v.name) AS r (object_id)
        WHERE r.object_id IS NOT NULL AND v_base_table IS NOT NULL
        UNION
        SELECT o.n, d.refclassid, d.refobjid
        FROM object AS o
        CROSS JOIN LATERAL (
            SELECT k.refclassid, k.refobjid
            FROM pg_rewrite AS r
            INNER JOIN pg_depend AS k ON k.classid = 'pg_rewrite'::regclass AND r.oid = k.objid
            WHERE o.class_id = 'pg_class'::regclass AND r.ev_class = o.object_id
            UNION ALL
            SELECT k.refclassid, k.refobjid
            FROM pg_depend AS k
            WHERE o.class_id = 'pg_proc'::regclass
                AND k.classid = o.class_id
                AND k.objid = o.object_id
        ) AS d
        WHERE d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
    )
    SELECT t.n, t.reads_base_table INTO v_wrong
    FROM (
        SELECT
            o.n,
            bool_or(o.class_id = 'pg_class'::regclass AND o.object_id = v_base_table)
                AS reads_base_table,
            bool_or(p.oid IS NOT NULL) AS reads_block
        FROM object AS o
        LEFT JOIN pg_proc AS p
            ON o.class_id = 'pg_proc'::regclass
            AND o.object_id = p.oid
            AND p.pronamespace = 'omd_lineage'::regnamespace
            AND p.proname IN ('in_block', 'id_in_block', 'block_start', 'block_end')
        GROUP BY o.n
    ) AS t
    -- The second view of a recompute reads the whole base table.
    WHERE NOT t.reads_base_table OR NOT (t.reads_block OR (p_is_recompute AND t.n > 1))
    ORDER BY t.n
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM213',
            jsonb_build_object(
                'topic', p_topic,
                'transform', p_transforms[v_wrong.n],
                'table_code', p_base_table,
                'problem', CASE
                    WHEN v_wrong.reads_base_table THEN 'it has no condition in_block'
                    ELSE format('it does not read the table that is %s now', p_base_table)
                END
            )
        );
    END IF;
    RETURN v_base_table;
END
$require_block_views$;

COMMENT ON FUNCTION omd_lineage._require_block_views IS
'Requires that each view of p_transforms that exists reads the table p_base_table, and reads it by '
'the block of a step; with p_is_recompute only the first one needs the block. Returns the OID of '
'the table; NULL when there is none. p_topic is for the error. Errors: OM213: a view does not. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._require_block_views FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._require_block_views TO omd_runner;
