-- A batch of events is made at once: of Modules and tables that many of its runs share, what is said
-- is made once, and what stands in tables that grow is found by id. An instance that is purged, or
-- whose id has another start since a restore, leaves job, run and time, which its event has.

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
AS $open_lineage$
DECLARE
    v_installation_id CONSTANT uuid := (SELECT i.installation_id FROM omd.installation AS i);
    v_namespace CONSTANT text := omd_event._job_namespace();
    v_version CONSTANT text := omd.product_version();
    v_begun bigint[];
    v_ended bigint[];
    v_modules integer[];
    v_jobs jsonb;
    v_callers jsonb;
    v_tables jsonb;
    v_columns jsonb;
    v_datasets jsonb;
    v_staged jsonb;
    v_loads jsonb;
    v_commits jsonb;
    v_windows jsonb;
BEGIN
    SELECT
        coalesce(array_agg(DISTINCT e.subject_id) FILTER (WHERE e.event_type = 'RUN_BEGAN'), '{}'),
        coalesce(
            array_agg(DISTINCT e.subject_id)
            FILTER (WHERE e.event_type NOT IN ('RUN_BEGAN', 'RUN_UNDONE')),
            '{}'
        ),
        array_agg(DISTINCT mi.module_id)
    INTO v_begun, v_ended, v_modules
    FROM omd_event.event AS e
    INNER JOIN omd.described_module_instance AS mi
        ON e.subject_id = mi.module_instance_id AND e.started_datetime = mi.start_datetime
    WHERE e.event_number = ANY(p_event_numbers) AND e.subject_type = 'MODULE';

    IF v_modules IS NOT NULL THEN
        v_jobs := omd_event._job_facets(v_modules);
        SELECT jsonb_object_agg(t.run, t.keys) INTO v_tables
        FROM (
            SELECT
                concat_ws(' ', r.module_instance_id, r.is_end, r.is_output) AS run,
                jsonb_agg(r.key ORDER BY r.key) AS keys
            FROM omd_event._run_tables(v_begun, v_ended) AS r
            GROUP BY 1
        ) AS t;
        SELECT
            jsonb_object_agg(
                concat_ws(' ', c.module_id, omd.spell_table(c.table_code)),
                jsonb_build_array(c.fields, c.used)
            )
        INTO v_columns
        FROM omd_event._column_lineage(v_modules) AS c;
        SELECT
            jsonb_object_agg(
                d.module_instance_id,
                jsonb_build_object(
                    't', d.snapshot_datetime,
                    'table', d.staged_table,
                    'assertions', omd_event._assertions(d.checks),
                    'columns',
                    (
                        SELECT
                            jsonb_object_agg(
                                c.key,
                                jsonb_build_array(
                                    jsonb_build_object(
                                        'table', d.staged_table,
                                        'column', c.value,
                                        'subtype', 'IDENTITY'
                                    )
                                )
                            )
                        FROM jsonb_each_text(d.staged_columns) AS c
                    )
                )
            )
        INTO v_staged
        FROM omd_delivery.described_runs(v_begun || v_ended) AS d;
        SELECT jsonb_object_agg(l.module_instance_id, l.transaction_datetime) INTO v_loads
        FROM omd_facts.described_loads(v_ended) AS l;
        SELECT
            jsonb_object_agg(
                concat_ws(' ', c.module_instance_id, c.table_code),
                jsonb_build_array(c.table_version, c.is_overwritten)
            )
        INTO v_commits
        FROM omd_lake.described_runs(v_ended) AS c;
        SELECT
            jsonb_object_agg(
                w.module_instance_id, jsonb_build_array(w.start_value, w.end_value)
            )
        INTO v_windows
        FROM omd.ledger_window AS w
        WHERE w.module_instance_id = ANY(v_ended) AND isfinite(w.start_value);
        v_datasets := omd_event._datasets(
            ARRAY(
                SELECT k.key
                FROM jsonb_each(v_tables) AS t
                CROSS JOIN LATERAL jsonb_array_elements_text(t.value) AS k (key)
                UNION
                SELECT '?' || (i.item ->> 'table')
                FROM jsonb_each(v_columns) AS c
                CROSS JOIN LATERAL jsonb_each(c.value -> 0) AS f
                CROSS JOIN LATERAL jsonb_array_elements(f.value) AS i (item)
                UNION
                SELECT '?' || (u.item ->> 'table')
                FROM jsonb_each(v_columns) AS c
                CROSS JOIN LATERAL jsonb_array_elements(nullif(c.value -> 1, 'null')) AS u (item)
                UNION
                SELECT '?' || (s.value ->> 'table')
                FROM jsonb_each(v_staged) AS s
            )
        );
    END IF;
    v_callers := omd_event._callers(
        ARRAY(
            SELECT mi.batch_instance_id
            FROM omd_event.event AS e
            INNER JOIN omd.described_module_instance AS mi ON e.subject_id = mi.module_instance_id
            WHERE e.event_number = ANY(p_event_numbers)
                AND e.subject_type = 'MODULE'
                AND mi.batch_instance_id <> 0
            UNION
            SELECT bi.parent_batch_instance_id
            FROM omd_event.event AS e
            INNER JOIN omd.described_batch_instance AS bi ON e.subject_id = bi.batch_instance_id
            WHERE e.event_number = ANY(p_event_numbers)
                AND e.subject_type = 'BATCH'
                AND bi.parent_batch_instance_id <> 0
        )
    );

    RETURN QUERY
    SELECT
        e.event_number,
        jsonb_build_object(
            'eventType', t.event_type,
            'eventTime', omd_event._instant(e.event_datetime),
            'producer', 'https://pgomd.invalid',
            'schemaURL', 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
            'run',
            jsonb_build_object(
                'runId',
                omd_event._run_uuid(
                    v_installation_id, e.subject_type, e.subject_id, e.started_datetime
                ),
                'facets', coalesce(mf.facets, bf.facets, '{}')
            ),
            'job',
            jsonb_build_object(
                'namespace', v_namespace,
                'name', omd_event._job_name(e.subject_type, e.code),
                'facets', coalesce(
                    v_jobs -> mi.module_id::text,
                    CASE
                        WHEN bi.batch_instance_id IS NOT NULL
                            THEN jsonb_build_object('jobType', omd_event._job_type('BATCH'))
                                || omd_event._documentation(bi.batch_description)
                    END,
                    '{}'
                )
            ),
            'inputs', coalesce(io.inputs, '[]'),
            'outputs', coalesce(io.outputs, '[]')
        )
    FROM omd_event.event AS e
    INNER JOIN (
        VALUES
        ('RUN_BEGAN', 'START'), ('RUN_SUCCEEDED', 'COMPLETE'), ('RUN_FAILED', 'FAIL'),
        ('RUN_ABORTED', 'ABORT'), ('RUN_UNDONE', 'OTHER'), ('BATCH_BEGAN', 'START'),
        ('BATCH_SUCCEEDED', 'COMPLETE'), ('BATCH_FAILED', 'FAIL'), ('BATCH_ABORTED', 'ABORT')
    ) AS t (our_type, event_type) ON e.event_type = t.our_type
    LEFT JOIN omd.described_module_instance AS mi
        ON e.subject_type = 'MODULE'
            AND e.subject_id = mi.module_instance_id
            AND e.started_datetime = mi.start_datetime
    LEFT JOIN omd.described_module AS m ON mi.module_id = m.module_id
    LEFT JOIN omd.described_batch_instance AS bi
        ON e.subject_type = 'BATCH'
            AND e.subject_id = bi.batch_instance_id
            AND e.started_datetime = bi.start_datetime
    LEFT JOIN LATERAL (
        SELECT
            omd_event._parent_facet(
                v_callers -> mi.batch_instance_id::text, mi.execution_context
            )
            || omd_event._engine_facet(
                CASE WHEN m.engine_code = 'SPARK' THEN 'SPARK' ELSE 'POSTGRES' END,
                mi.execution_context,
                v_version
            )
            || omd_event._nominal_time(
                CASE
                    WHEN t.event_type = 'OTHER' THEN NULL
                    WHEN v_staged ? mi.module_instance_id::text
                        THEN jsonb_build_array(v_staged -> mi.module_instance_id::text -> 't', NULL)
                    WHEN t.event_type = 'START' THEN NULL
                    WHEN v_loads ? mi.module_instance_id::text
                        THEN jsonb_build_array(v_loads -> mi.module_instance_id::text, NULL)
                    ELSE v_windows -> mi.module_instance_id::text
                END
            )
            || CASE
                WHEN t.event_type = 'FAIL'
                    THEN omd_event._error_facet(
                        e.detail ->> 'return_code',
                        format('omd trace %s', mi.module_instance_id),
                        m.engine_code
                    )
                ELSE '{}'
            END
            || omd_event._run_facet(
                jsonb_strip_nulls(
                    jsonb_build_object(
                        'module_instance_id', mi.module_instance_id,
                        'batch_instance_id', nullif(mi.batch_instance_id, 0),
                        'started_by', mi.started_by
                    )
                )
                || CASE
                    WHEN t.event_type = 'OTHER'
                        THEN jsonb_strip_nulls(
                            jsonb_build_object(
                                'undone_by', mi.rolled_back_by_module_instance_id
                            )
                        )
                    WHEN t.event_type = 'START' THEN '{}'
                    ELSE
                        jsonb_strip_nulls(jsonb_build_object('reason', mi.reason_code))
                        || jsonb_build_object(
                            'rows_input', mi.rows_input,
                            'rows_inserted', mi.rows_inserted,
                            'rows_updated', mi.rows_updated,
                            'rows_deleted', mi.rows_deleted,
                            'rows_discarded', mi.rows_discarded,
                            'rows_rejected', mi.rows_rejected,
                            'undid', to_jsonb(coalesce(mi.rollback_instance_array, '{}'))
                        )
                END
            ) AS facets
        WHERE mi.module_instance_id IS NOT NULL
    ) AS mf ON TRUE
    LEFT JOIN LATERAL (
        SELECT
            omd_event._parent_facet(
                v_callers -> bi.parent_batch_instance_id::text, bi.execution_context
            )
            || omd_event._engine_facet('POSTGRES', bi.execution_context, v_version)
            || CASE
                WHEN t.event_type = 'FAIL'
                    THEN omd_event._error_facet(e.detail ->> 'return_code', 'omd status', NULL)
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
            ) AS facets
        WHERE bi.batch_instance_id IS NOT NULL
    ) AS bf ON TRUE
    LEFT JOIN LATERAL (
        SELECT
            (
                SELECT
                    jsonb_agg(
                        d.dataset
                        || CASE
                            WHEN a.assertions IS NULL THEN '{}'
                            ELSE
                                jsonb_build_object(
                                    'inputFacets',
                                    jsonb_build_object('dataQualityAssertions', a.assertions)
                                )
                        END
                        ORDER BY k.key
                    )
                FROM jsonb_array_elements_text(
                    v_tables -> concat_ws(' ', mi.module_instance_id, s.is_end, FALSE)
                ) AS k (key)
                CROSS JOIN LATERAL (SELECT v_datasets -> k.key AS dataset) AS d
                CROSS JOIN LATERAL (
                    SELECT
                        CASE
                            WHEN s.is_end
                                AND k.key = 'P' || (
                                    v_staged -> mi.module_instance_id::text ->> 'table'
                                )
                                THEN nullif(
                                    v_staged -> mi.module_instance_id::text -> 'assertions', 'null'
                                )
                        END AS assertions
                ) AS a
            ) AS inputs,
            (
                SELECT
                    jsonb_agg(
                        d.dataset
                        || jsonb_build_object(
                            'facets',
                            coalesce(d.dataset -> 'facets', '{}')
                            || omd_event._output_facets(
                                m.area_code = 'STG' AND t.event_type = 'COMPLETE',
                                (
                                    (v_commits -> c.name -> 1)::boolean
                                    OR coalesce(p.processor = 'RELOAD', FALSE)
                                )
                                AND t.event_type = 'COMPLETE',
                                v_commits -> c.name ->> 0
                            )
                            || CASE
                                WHEN l.columns IS NULL THEN '{}'
                                ELSE
                                    jsonb_build_object(
                                        'columnLineage',
                                        omd_event._column_facet(
                                            coalesce(nullif(l.columns -> 0, 'null'), '{}'),
                                            nullif(l.columns -> 1, 'null'),
                                            v_datasets
                                        )
                                    )
                            END
                        )
                        || CASE
                            WHEN t.event_type <> 'COMPLETE' THEN '{}'
                            ELSE
                                jsonb_build_object(
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
                                    )
                                )
                        END
                        ORDER BY k.key
                    )
                FROM jsonb_array_elements_text(
                    v_tables -> concat_ws(' ', mi.module_instance_id, s.is_end, TRUE)
                ) AS k (key)
                CROSS JOIN LATERAL (SELECT v_datasets -> k.key AS dataset) AS d
                CROSS JOIN LATERAL (
                    SELECT concat_ws(' ', mi.module_instance_id, substr(k.key, 2)) AS name
                ) AS c
                LEFT JOIN omd_lineage.described_topic AS p ON p.module_id = mi.module_id
                CROSS JOIN LATERAL (
                    SELECT
                        coalesce(
                            v_columns
                            -> concat_ws(' ', mi.module_id, omd.spell_table(substr(k.key, 2))),
                            CASE
                                WHEN v_staged ? mi.module_instance_id::text
                                    THEN jsonb_build_array(
                                        v_staged -> mi.module_instance_id::text -> 'columns', NULL
                                    )
                            END
                        ) AS columns
                ) AS l
            ) AS outputs
        FROM (SELECT t.event_type <> 'START' AS is_end) AS s
        WHERE mi.module_instance_id IS NOT NULL AND t.event_type <> 'OTHER'
    ) AS io ON TRUE
    WHERE e.event_number = ANY(p_event_numbers)
    ORDER BY e.event_number;
END
$open_lineage$;

COMMENT ON FUNCTION omd_event._open_lineage IS
'Returns those of the events p_event_numbers that OpenLineage has a form for, in it. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._open_lineage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_event._open_lineage TO omd_reader;
