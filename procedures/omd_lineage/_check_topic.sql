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
BEGIN
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_engine', p_new.engine, 'POSTGRES or SPARK', p_new.engine IN ('POSTGRES', 'SPARK')
        ),
        (
            'p_source_offset', p_new.source_offset, 'PROBE, CLOCK, TRIGGER or HAND',
            p_new.source_offset IN ('PROBE', 'CLOCK', 'TRIGGER', 'HAND')
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
REVOKE ALL ON PROCEDURE omd_lineage._check_topic FROM PUBLIC;
