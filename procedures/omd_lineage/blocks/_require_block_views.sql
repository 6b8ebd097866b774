-- A view without the condition in_block would insert the whole base table at each step. A view goes
-- on to read a table that was renamed, while the block is planned in the table that has its name
-- now. The catalogue knows by OID what a view depends on, also through views and SQL functions with
-- BEGIN ATOMIC; it does not know what any other function reads. Each step looks, and to plan the
-- query each time would take ten times as long as the look.

CREATE OR REPLACE FUNCTION omd_lineage._require_block_views(
    p_topic text,
    p_base_table text,
    p_transforms text[],
    p_is_recompute boolean,
    p_block_view text DEFAULT NULL
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
    v_read CONSTANT oid := CASE
        WHEN p_block_view IS NULL THEN v_base_table
        ELSE coalesce(omd.target_relation(p_block_view), v_base_table)
    END;
    v_view oid;
    v_reads_base_table boolean;
    v_reads_block boolean;
BEGIN
    FOR v_n IN 1..cardinality(p_transforms) LOOP
        -- A view may be created after its topic, and so may the base table.
        v_view := omd.target_relation(p_transforms[v_n]);
        CONTINUE WHEN v_view IS NULL OR v_base_table IS NULL;
        WITH RECURSIVE object AS (
            SELECT 'pg_class'::regclass::oid AS class_id, v_view AS object_id
            UNION
            SELECT d.refclassid, d.refobjid
            FROM object AS o
            CROSS JOIN LATERAL (
                SELECT k.refclassid, k.refobjid
                FROM pg_rewrite AS r
                INNER JOIN pg_depend AS k
                    ON k.classid = 'pg_rewrite'::regclass AND r.oid = k.objid
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

        SELECT
            bool_or(o.class_id = 'pg_class'::regclass AND o.object_id = v_read),
            bool_or(
                o.class_id = 'pg_proc'::regclass AND EXISTS (
                    SELECT FROM pg_proc AS p
                    WHERE p.oid = o.object_id
                        AND p.pronamespace = 'omd_lineage'::regnamespace
                        AND p.proname IN ('in_block', 'id_in_block', 'block_start', 'block_end')
                )
            )
        INTO v_reads_base_table, v_reads_block
        FROM object AS o;
        -- The second view of a recompute reads the whole base table, and that of facts has another
        -- name.
        CONTINUE WHEN p_block_view IS NOT NULL
            AND (v_reads_base_table OR (p_is_recompute AND v_n > 1));
        IF NOT v_reads_base_table OR NOT (v_reads_block OR (p_is_recompute AND v_n > 1)) THEN
            PERFORM omd.raise_error(
                'OM213',
                jsonb_build_object(
                    'topic', p_topic,
                    'transform', p_transforms[v_n],
                    'table_code', p_base_table,
                    'next_command', format(
                        'CREATE OR REPLACE VIEW %s AS SELECT … FROM %s AS t%s;',
                        p_transforms[v_n], coalesce(p_block_view, p_base_table),
                        CASE
                            WHEN p_block_view IS NULL
                                THEN ' WHERE omd_lineage.in_block(t.pos, t.id)'
                            ELSE ''
                        END
                    ),
                    'problem', CASE
                        WHEN p_block_view IS NOT NULL
                            THEN format('it does not read %s', p_block_view)
                        WHEN v_reads_base_table THEN 'it has no condition in_block'
                        ELSE format('it does not read the table that is %s now', p_base_table)
                    END
                )
            );
        END IF;
    END LOOP;
    RETURN v_base_table;
END
$require_block_views$;

COMMENT ON FUNCTION omd_lineage._require_block_views IS
'Requires that each view of p_transforms that exists reads the table p_base_table, and reads it '
'by the block of a step; with p_is_recompute only the first one needs the block. p_block_view: '
'the view that has only the rows of the block, so each reads that one; NULL: there is none. '
'Returns the OID of the table; NULL when there is none. p_topic is for the error. Errors: OM213: '
'a view does not. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._require_block_views TO omd_runner;
