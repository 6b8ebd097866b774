-- This is one list of rules, each with the words that its error needs; the first rule that is
-- broken is raised.

CREATE OR REPLACE PROCEDURE omd_lineage._check_topic(
    p_new omd_lineage.topic
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_topic$
DECLARE
    v_wrong record;
    v_key text[] := coalesce(p_new.merge_key, p_new.recompute_key);
    v_key_argument text := CASE
        WHEN p_new.merge_key IS NULL THEN 'p_recompute_key' ELSE 'p_merge_key'
    END;
BEGIN
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_engine', p_new.engine, 'POSTGRES or SPARK', p_new.engine IN ('POSTGRES', 'SPARK')
        ),
        (
            'p_source_offset', p_new.source_offset, 'PROBE, CLOCK, TRIGGER, HAND, LAKE or RUNS',
            p_new.source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND', 'LAKE', 'FACTS', 'RUNS')
        ),
        (
            'p_reload_method', p_new.reload_method, 'DELETE, TRUNCATE or SWAP',
            p_new.reload_method IN ('DELETE', 'TRUNCATE', 'SWAP')
        ),
        (
            'p_processor', p_new.processor,
            'STEP, RELOAD or the name of a procedure: schema.procedure',
            p_new.processor IN ('STEP', 'RELOAD')
            OR omd.quote_table(p_new.processor, 'POSTGRES') IS NOT NULL
            OR p_new.processor IS NULL
        ),
        (
            'p_processor', p_new.processor, 'STEP or RELOAD on engine SPARK',
            p_new.processor IN ('STEP', 'RELOAD')
            OR p_new.engine = 'POSTGRES'
            OR p_new.processor IS NULL
        ),
        ('p_delay', p_new.delay::text, 'not negative', p_new.delay >= interval '0'),
        ('p_repeat', p_new.repeat::text, 'not negative', p_new.repeat >= interval '0'),
        ('p_maxstep', p_new.maxstep::text, 'greater than zero', p_new.maxstep > 0),
        (
            'p_max_wait', p_new.max_wait::text, 'not negative',
            coalesce(p_new.max_wait > interval '0', TRUE)
        ),
        (
            'p_depends_on', p_new.depends_on::text, 'at least one name, the base table first',
            p_new.processor IS NULL OR p_new.depends_on <> '{}'
        ),
        (
            'p_transforms', p_new.transforms::text, 'at least one transform',
            coalesce(p_new.processor NOT IN ('STEP', 'RELOAD'), TRUE) OR p_new.transforms <> '{}'
        ),
        (
            'p_transforms', p_new.transforms::text, 'views, as schema.view',
            p_new.engine <> 'POSTGRES' OR NOT EXISTS (
                SELECT FROM unnest(p_new.transforms) AS v (name)
                WHERE omd.quote_table(v.name, 'POSTGRES') IS NULL
            )
        ),
        (
            'p_recompute_key', p_new.recompute_key::text, 'NULL where p_merge_key is given',
            num_nonnulls(p_new.merge_key, p_new.recompute_key) < 2
        ),
        (
            v_key_argument, v_key::text, 'NULL on engine SPARK',
            v_key IS NULL OR p_new.engine = 'POSTGRES'
        ),
        (
            v_key_argument, v_key::text, 'NULL unless the processor is STEP',
            v_key IS NULL OR coalesce(p_new.processor = 'STEP', FALSE)
        ),
        (
            v_key_argument, v_key::text, 'columns, each of them once',
            array_position(v_key, NULL) IS NULL
            AND cardinality(v_key) = (SELECT count(DISTINCT k.name) FROM unnest(v_key) AS k (name))
        ),
        (
            'p_transforms', p_new.transforms::text,
            'two views with p_recompute_key: the keys of the block, and the rows of these keys',
            p_new.recompute_key IS NULL OR cardinality(p_new.transforms) = 2
        ),
        (
            v_key_argument, v_key::text, 'no column that the step stamps',
            NOT v_key && ARRAY[
                'omd_insert_datetime', 'omd_record_source',
                coalesce(omd.insert_column(p_new.module_id), 'omd_insert_module_instance_id')
            ]
        ),
        (
            v_key_argument, v_key::text, 'columns of ' || p_new.table_code || ' and of each view',
            NOT EXISTS (
                SELECT
                FROM unnest(v_key) AS k (name)
                CROSS JOIN unnest(p_new.table_code || p_new.transforms) AS r (name)
                WHERE omd.target_exists(r.name)
                    AND omd.target_column_type(r.name, k.name) IS NULL
            )
        )
    ) AS w (argument, value, expected, is_right)
    WHERE NOT w.is_right
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong.argument, 'value', v_wrong.value, 'expected', v_wrong.expected
            )
        );
    END IF;
END
$check_topic$;

COMMENT ON PROCEDURE omd_lineage._check_topic IS
'Checks the definition p_new of a topic. Errors: OM013: an argument has a value that is not '
'allowed. Locks: none.';
