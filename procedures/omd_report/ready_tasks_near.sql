-- Ten topics after each other beside 10,000 others were ten looks at the whole list, with nine
-- times as much rest between them. What was committed says who depends on it, and only these are
-- looked at, each by index look-ups, whatever the statistics say; the whole list is the net under
-- it. Each query names a room, so that the planner leaves out what the others say; to begin one
-- takes a millisecond all the same, so that only what is asked for is begun (one for all: 5 ms).

CREATE OR REPLACE FUNCTION omd_report.ready_tasks_near(
    p_codes text[],
    p_topics text[],
    p_deliveries jsonb
)
RETURNS TABLE (
    task_type text,
    code text,
    kind text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $ready_tasks_near$
DECLARE
    v_moved CONSTANT integer[] := omd_lineage.topics_heard(p_topics);
    v_codes CONSTANT text[] := p_codes || omd_delivery.modules_near(p_codes, p_deliveries);
    v_ended CONSTANT integer[] := ARRAY(
        SELECT m.module_id FROM omd.module_target AS m
        WHERE m.module_code = ANY(p_codes)
        UNION
        SELECT d.module_id FROM omd_lineage.described_topic AS d
        WHERE d.topic_id = ANY(v_moved)
    );
    v_tables CONSTANT text[] := omd.tables_of_modules(v_ended);
    v_module_ids integer[];
    v_topic_ids integer[];
    v_others integer[];
BEGIN
    SELECT array_agg(t.module_id), array_agg(t.topic_id) INTO v_module_ids, v_topic_ids
    FROM omd_lineage.topics_near(v_ended, p_topics, v_tables) AS t;
    IF cardinality(v_module_ids) > 0 THEN
        RETURN QUERY
        SELECT y.task_type, r.code, r.module_kind_code
        FROM unnest(v_module_ids, v_topic_ids) AS t (module_id, topic_id)
        CROSS JOIN LATERAL (
            SELECT w.* FROM omd_report.work_states AS w
            WHERE w.module_id = t.module_id AND w.topic_id = t.topic_id AND w.room = 'TOPIC'
            OFFSET 0
        ) AS r
        INNER JOIN omd_report.dispatch_sources AS y
            ON y.task_type = CASE r.engine_code WHEN 'POSTGRES' THEN 'DATABASE' ELSE 'SPARK' END
        WHERE r.state = 'READY'
            AND r.task_id IS NULL
            AND y.family_code = 'WORK'
            AND y.inactive_indicator = 'N';
    END IF;
    v_others := ARRAY(
        SELECT m.module_id FROM omd.module_target AS m
        WHERE m.module_code = ANY(v_codes) AND m.module_kind_code = 'FACTS'
    );
    IF cardinality(v_others) > 0 THEN
        RETURN QUERY
        SELECT y.task_type, r.code, r.module_kind_code
        FROM unnest(v_others) AS t (module_id)
        CROSS JOIN LATERAL (
            SELECT w.* FROM omd_report.work_states AS w
            WHERE w.module_id = t.module_id AND w.room = 'FACTS'
            OFFSET 0
        ) AS r
        INNER JOIN omd_report.dispatch_sources AS y
            ON y.task_type = CASE r.engine_code WHEN 'POSTGRES' THEN 'DATABASE' ELSE 'SPARK' END
        WHERE r.state = 'READY'
            AND r.task_id IS NULL
            AND y.family_code = 'WORK'
            AND y.inactive_indicator = 'N';
    END IF;
    v_others := ARRAY(
        SELECT m.module_id FROM omd.module_target AS m
        WHERE m.module_code = ANY(v_codes) AND m.module_kind_code = 'STAGE'
        UNION
        SELECT s.module_id FROM unnest(omd_decision.stages_near(v_tables)) AS s (module_id)
    );
    IF cardinality(v_others) > 0 THEN
        RETURN QUERY
        SELECT y.task_type, r.code, r.module_kind_code
        FROM unnest(v_others) AS t (module_id)
        CROSS JOIN LATERAL (
            SELECT w.* FROM omd_report.work_states AS w
            WHERE w.module_id = t.module_id AND w.room = 'STAGE'
            OFFSET 0
        ) AS r
        INNER JOIN omd_report.dispatch_sources AS y
            ON y.task_type = CASE r.engine_code WHEN 'POSTGRES' THEN 'DATABASE' ELSE 'SPARK' END
        WHERE r.state = 'READY'
            AND r.task_id IS NULL
            AND y.family_code = 'WORK'
            AND y.inactive_indicator = 'N';
    END IF;
    v_others := ARRAY(
        SELECT m.module_id FROM omd.module_target AS m
        WHERE m.module_code = ANY(v_codes) AND m.module_kind_code = 'DELIVERY'
    );
    IF cardinality(v_others) > 0 THEN
        RETURN QUERY
        SELECT y.task_type, r.code, r.module_kind_code
        FROM unnest(v_others) AS t (module_id)
        CROSS JOIN LATERAL (
            SELECT w.* FROM omd_report.work_states AS w
            WHERE w.module_id = t.module_id AND w.room = 'DELIVERY'
            OFFSET 0
        ) AS r
        INNER JOIN omd_report.dispatch_sources AS y
            ON y.task_type = CASE r.engine_code WHEN 'POSTGRES' THEN 'DATABASE' ELSE 'SPARK' END
        WHERE r.state = 'READY'
            AND r.task_id IS NULL
            AND y.family_code = 'WORK'
            AND y.inactive_indicator = 'N';
    END IF;
    v_others := ARRAY(
        SELECT m.module_id FROM omd.module_target AS m
        WHERE m.module_code = ANY(v_codes) AND m.module_kind_code = 'EXPORT'
    );
    IF cardinality(v_others) > 0 THEN
        RETURN QUERY
        SELECT y.task_type, r.code, r.module_kind_code
        FROM unnest(v_others) AS t (module_id)
        CROSS JOIN LATERAL (
            SELECT w.* FROM omd_report.work_states AS w
            WHERE w.module_id = t.module_id AND w.room = 'EXPORT'
            OFFSET 0
        ) AS r
        INNER JOIN omd_report.dispatch_sources AS y
            ON y.task_type = CASE r.engine_code WHEN 'POSTGRES' THEN 'DATABASE' ELSE 'SPARK' END
        WHERE r.state = 'READY'
            AND r.task_id IS NULL
            AND y.family_code = 'WORK'
            AND y.inactive_indicator = 'N';
    END IF;
END
$ready_tasks_near$;

COMMENT ON FUNCTION omd_report.ready_tasks_near IS
'For the driver: '
'Returns the ready work without a live task among what depends on what has just been '
'committed: the Modules p_codes, whose tasks have ended, the topics p_topics, which have moved, by '
'name or by number, and p_deliveries, an array of notifications of the channel omd_delivery. '
'Each with its task type in the family WORK, if the source of that type is on: task_type, code, '
'kind. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_report.ready_tasks_near TO omd_runner;
