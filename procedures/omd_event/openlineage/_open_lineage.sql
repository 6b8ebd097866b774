-- A batch of events is made at once: of Modules and tables that many of its runs share, what is
-- said is made once, and what stands in tables that grow is found by id. An instance that is
-- purged, or whose id has another start since a restore, leaves job, run and time, which its event
-- has. A generic plan goes by the indexes, whatever the statistics say: 8 ms for 100 events, not
-- 14.

CREATE OR REPLACE FUNCTION omd_event._open_lineage(
    p_event_numbers bigint[]
)
RETURNS TABLE (event_number bigint, event jsonb)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $open_lineage$
DECLARE
    v_installation_id CONSTANT uuid := omd.installation_id();
    v_namespace CONSTANT text := omd_event._job_namespace();
    v_version CONSTANT text := omd.product_version();
    v_postgres CONSTANT jsonb := omd_event._engine_facet(
        'PostgreSQL', current_setting('server_version'), v_version
    );
    v_begun bigint[];
    v_ended bigint[];
    v_modules integer[];
    v_batches bigint[];
    v_parts bigint[];
    v_loads bigint[];
    v_jobs jsonb;
    v_callers jsonb := '{}'::jsonb;
    v_tables jsonb := '{}'::jsonb;
    v_datasets jsonb;
    v_outputs jsonb;
    v_staged jsonb := '{}'::jsonb;
    v_load_times jsonb := '{}'::jsonb;
    v_commits jsonb := '{}'::jsonb;
    v_windows jsonb := '{}'::jsonb;
BEGIN
    SELECT
        array_agg(DISTINCT mi.module_instance_id) FILTER (WHERE e.event_type = 'RUN_BEGAN'),
        array_agg(DISTINCT mi.module_instance_id)
        FILTER (WHERE e.event_type NOT IN ('RUN_BEGAN', 'RUN_UNDONE')),
        array_agg(DISTINCT mi.module_id),
        array_agg(DISTINCT mi.batch_instance_id) FILTER (WHERE mi.batch_instance_id <> 0),
        array_agg(DISTINCT mi.module_instance_id) FILTER (WHERE m.module_kind_code = 'PART'),
        array_agg(DISTINCT mi.module_instance_id)
        FILTER (WHERE m.module_kind_code = 'FACTS' AND e.event_type <> 'RUN_BEGAN')
    INTO v_begun, v_ended, v_modules, v_batches, v_parts, v_loads
    FROM omd_event.event AS e
    INNER JOIN omd.described_module_instance AS mi
        ON e.subject_id = mi.module_instance_id AND e.started_datetime = mi.start_datetime
    INNER JOIN omd.described_module AS m ON mi.module_id = m.module_id
    WHERE e.event_number = ANY(p_event_numbers) AND e.subject_type = 'MODULE';

    IF v_modules IS NOT NULL THEN
        v_jobs := omd_event._job_facets(v_modules);
        SELECT coalesce(jsonb_object_agg(t.run, t.keys), '{}') INTO v_tables
        FROM (
            SELECT
                concat_ws(' ', r.module_instance_id, r.is_end, r.is_output) AS run,
                jsonb_agg(r.key ORDER BY r.key) AS keys
            FROM omd_event._run_tables(v_modules, v_begun, v_ended) AS r
            GROUP BY 1
        ) AS t;
        IF v_parts IS NOT NULL THEN
            v_staged := omd_event._staged(v_parts);
        END IF;
        IF v_loads IS NOT NULL THEN
            SELECT coalesce(jsonb_object_agg(l.module_instance_id, l.transaction_datetime), '{}')
            INTO v_load_times
            FROM omd_facts.described_loads(v_loads) AS l;
        END IF;
        SELECT
            coalesce(
                jsonb_object_agg(
                    w.module_instance_id, jsonb_build_array(w.start_value, w.end_value)
                ),
                '{}'
            )
        INTO v_windows
        FROM omd.ledger_window AS w
        WHERE w.module_instance_id = ANY(v_ended) AND w.start_value > '-infinity';
        SELECT
            coalesce(
                jsonb_object_agg(
                    concat_ws(' ', c.module_instance_id, 'L' || c.table_code),
                    omd_event._output_facets(FALSE, c.is_overwritten, c.table_version)
                ),
                '{}'
            )
        INTO v_commits
        FROM omd_lake.described_runs(v_ended) AS c;
        SELECT d.p_datasets, d.p_outputs INTO v_datasets, v_outputs
        FROM omd_event._described_tables(v_modules, v_tables, v_staged) AS d;
    END IF;

    SELECT coalesce(v_batches, '{}') || coalesce(array_agg(bi.parent_batch_instance_id), '{}')
    INTO v_batches
    FROM omd_event.event AS e
    INNER JOIN omd.described_batch_instance AS bi ON e.subject_id = bi.batch_instance_id
    WHERE e.event_number = ANY(p_event_numbers)
        AND e.subject_type = 'BATCH'
        AND bi.parent_batch_instance_id <> 0;
    IF v_batches <> '{}' THEN
        v_callers := omd_event._callers(v_batches);
    END IF;

    -- Runs
    RETURN QUERY
    SELECT
        e.event_number,
        omd_event._run_event(
            t.event_type,
            e.event_datetime,
            omd_event._run_uuid(
                v_installation_id, e.subject_type, e.subject_id, e.started_datetime
            ),
            CASE
                WHEN mi.module_instance_id IS NULL THEN '{}'
                ELSE
                    CASE
                        WHEN m.platform_code = 'SPARK' OR mi.execution_context ? 'spark'
                            THEN omd_event._engine_facet(
                                'Spark', mi.execution_context ->> 'spark', v_version
                            )
                        ELSE v_postgres
                    END
                    || omd_event._parent_facet(
                        v_callers -> mi.batch_instance_id::text, mi.execution_context
                    )
                    || CASE
                        WHEN t.event_type = 'OTHER' THEN '{}'
                        WHEN v_staged ? n.id
                            THEN omd_event._nominal_time(
                                (v_staged -> n.id ->> 'time')::timestamptz, NULL
                            )
                        WHEN t.event_type = 'START' THEN '{}'
                        WHEN v_load_times ? n.id
                            THEN omd_event._nominal_time(
                                (v_load_times ->> n.id)::timestamptz, NULL
                            )
                        WHEN v_windows ? n.id
                            THEN omd_event._nominal_time(
                                (v_windows -> n.id ->> 0)::timestamptz,
                                (v_windows -> n.id ->> 1)::timestamptz
                            )
                        ELSE '{}'
                    END
                    || CASE
                        WHEN t.event_type = 'FAIL'
                            THEN omd_event._error_facet(
                                e.detail ->> 'return_code',
                                'omd explain run:' || mi.module_instance_id,
                                -- Also what a program outside begins is called from Python.
                                CASE m.module_kind_code
                                    WHEN 'JOB' THEN 'SPARK'
                                    ELSE m.engine_code
                                END
                            )
                        ELSE '{}'
                    END
                    || omd_event._run_facet(
                        jsonb_strip_nulls(
                            jsonb_build_object(
                                'module_instance_id', mi.module_instance_id,
                                'batch_instance_id', nullif(mi.batch_instance_id, 0),
                                'started_by', mi.started_by,
                                'reason',
                                CASE
                                    WHEN t.event_type IN ('COMPLETE', 'FAIL', 'ABORT')
                                        THEN mi.reason_code
                                END,
                                'undone_by',
                                CASE
                                    WHEN t.event_type = 'OTHER'
                                        THEN mi.rolled_back_by_module_instance_id
                                END
                            )
                        )
                        || CASE
                            WHEN t.event_type IN ('COMPLETE', 'FAIL', 'ABORT')
                                THEN jsonb_build_object(
                                    'rows_input', mi.rows_input,
                                    'rows_inserted', mi.rows_inserted,
                                    'rows_updated', mi.rows_updated,
                                    'rows_deleted', mi.rows_deleted,
                                    'rows_discarded', mi.rows_discarded,
                                    'rows_rejected', mi.rows_rejected,
                                    'undid', coalesce(mi.rollback_instance_array, '{}')
                                )
                            ELSE '{}'
                        END
                    )
            END,
            v_namespace,
            omd_event._job_name(e.subject_type, e.code),
            coalesce(v_jobs -> mi.module_id::text, '{}'),
            (
                SELECT
                    jsonb_agg(
                        (v_datasets -> k.key)
                        || CASE
                            WHEN v_staged -> n.id ->> 'key' = k.key
                                AND t.event_type <> 'START'
                                THEN v_staged -> n.id -> 'checks'
                            ELSE '{}'
                        END
                        ORDER BY k.key
                    )
                FROM jsonb_array_elements_text(
                    v_tables -> concat_ws(' ', n.id, t.event_type <> 'START', FALSE)
                ) AS k (key)
                WHERE t.event_type <> 'OTHER'
            ),
            (
                SELECT
                    jsonb_agg(
                        CASE
                            WHEN t.event_type <> 'COMPLETE' THEN o.output
                            ELSE
                                o.output || jsonb_build_object(
                                    'outputFacets',
                                    jsonb_build_object(
                                        'outputStatistics',
                                        omd_event._facet(
                                            'OutputStatisticsOutputDatasetFacet',
                                            '1-0-2',
                                            jsonb_build_object(
                                                'rowCount', mi.rows_inserted + mi.rows_updated
                                            )
                                        )
                                    ),
                                    'facets',
                                    coalesce(o.output -> 'facets', '{}')
                                    || coalesce(v_outputs -> (o.name || ' done'), '{}')
                                    || coalesce(v_commits -> concat_ws(' ', n.id, k.key), '{}')
                                )
                        END
                        ORDER BY k.key
                    )
                FROM jsonb_array_elements_text(
                    v_tables -> concat_ws(' ', n.id, t.event_type <> 'START', TRUE)
                ) AS k (key)
                CROSS JOIN LATERAL (
                    SELECT
                        coalesce(
                            v_outputs -> concat_ws(' ', n.id, k.key),
                            v_outputs -> concat_ws(' ', mi.module_id, k.key)
                        ) AS output,
                        concat_ws(' ', mi.module_id, k.key) AS name
                ) AS o
                WHERE t.event_type <> 'OTHER'
            )
        )
    FROM omd_event.event AS e
    INNER JOIN (
        VALUES
        ('RUN_BEGAN', 'START'), ('RUN_SUCCEEDED', 'COMPLETE'), ('RUN_FAILED', 'FAIL'),
        ('RUN_ABORTED', 'ABORT'), ('RUN_UNDONE', 'OTHER')
    ) AS t (our_type, event_type) ON e.event_type = t.our_type
    LEFT JOIN omd.described_module_instance AS mi
        ON e.subject_id = mi.module_instance_id AND e.started_datetime = mi.start_datetime
    LEFT JOIN omd.described_module AS m ON mi.module_id = m.module_id
    CROSS JOIN LATERAL (SELECT mi.module_instance_id::text AS id) AS n
    WHERE e.event_number = ANY(p_event_numbers) AND e.subject_type = 'MODULE';

    -- Batches
    RETURN QUERY
    SELECT
        e.event_number,
        omd_event._run_event(
            t.event_type,
            e.event_datetime,
            omd_event._run_uuid(
                v_installation_id, e.subject_type, e.subject_id, e.started_datetime
            ),
            CASE
                WHEN bi.batch_instance_id IS NULL THEN '{}'
                ELSE
                    v_postgres
                    || omd_event._parent_facet(
                        v_callers -> bi.parent_batch_instance_id::text, bi.execution_context
                    )
                    || CASE
                        WHEN t.event_type = 'FAIL'
                            THEN omd_event._error_facet(
                                e.detail ->> 'return_code', 'omd status', NULL
                            )
                        ELSE '{}'
                    END
                    || omd_event._run_facet(
                        jsonb_strip_nulls(
                            jsonb_build_object(
                                'batch_instance_id', bi.batch_instance_id,
                                'started_by', bi.started_by,
                                'reason',
                                CASE WHEN t.event_type <> 'START' THEN bi.reason_code END
                            )
                        )
                    )
            END,
            v_namespace,
            omd_event._job_name(e.subject_type, e.code),
            CASE
                WHEN bi.batch_instance_id IS NULL THEN '{}'
                ELSE
                    jsonb_build_object('jobType', omd_event._job_type('BATCH'))
                    || omd_event._documentation(bi.batch_description)
            END,
            NULL,
            NULL
        )
    FROM omd_event.event AS e
    INNER JOIN (
        VALUES
        ('BATCH_BEGAN', 'START'), ('BATCH_SUCCEEDED', 'COMPLETE'), ('BATCH_FAILED', 'FAIL'),
        ('BATCH_ABORTED', 'ABORT')
    ) AS t (our_type, event_type) ON e.event_type = t.our_type
    LEFT JOIN omd.described_batch_instance AS bi
        ON e.subject_id = bi.batch_instance_id AND e.started_datetime = bi.start_datetime
    WHERE e.event_number = ANY(p_event_numbers) AND e.subject_type = 'BATCH';
END
$open_lineage$;

COMMENT ON FUNCTION omd_event._open_lineage IS
'Returns those of the events p_event_numbers that OpenLineage has a form for, in it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_event._open_lineage TO omd_reader;
