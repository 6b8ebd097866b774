-- The procedure is SECURITY DEFINER, since it writes; register_topic, which calls it, reads the
-- table with the rights of the caller.

CREATE OR REPLACE PROCEDURE omd_lineage._save_topic(
    p_topic text,
    p_depends_on text[] DEFAULT NULL,
    p_processor text DEFAULT NULL,
    p_transforms text[] DEFAULT NULL,
    p_engine text DEFAULT NULL,
    p_delay interval DEFAULT NULL,
    p_repeat interval DEFAULT NULL,
    p_maxstep bigint DEFAULT NULL,
    p_run_window text DEFAULT NULL,
    p_max_wait interval DEFAULT NULL,
    p_before_sql text[] DEFAULT NULL,
    p_after_sql text[] DEFAULT NULL,
    p_pos_column text DEFAULT NULL,
    p_id_column text DEFAULT NULL,
    p_source_offset text DEFAULT NULL,
    p_reload_method text DEFAULT NULL,
    p_advance_when_quiet boolean DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL,
    p_comment text DEFAULT NULL,
    p_module_code text DEFAULT NULL,
    p_area_code text DEFAULT NULL,
    p_table_type_code text DEFAULT NULL,
    p_platform_code text DEFAULT NULL,
    p_start_pos timestamptz DEFAULT NULL,
    p_start_id bigint DEFAULT NULL,
    INOUT p_topic_id integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_topic$
DECLARE
    v_name record;
    v_old omd_lineage.topic;
    v_new omd_lineage.topic;
    v_is_new boolean;
    v_text text;
BEGIN
    PERFORM omd.require_name('p_topic', p_topic);
    v_name := omd_lineage._topic_parts(p_topic);
    IF omd.quote_table(v_name.p_table_code, 'POSTGRES') IS NULL THEN
        PERFORM omd.raise_error('OM016', jsonb_build_object('topic', p_topic));
    END IF;
    FOREACH v_text IN ARRAY coalesce(p_depends_on, '{}') LOOP
        IF omd.quote_table((omd_lineage._topic_parts(v_text)).p_table_code, 'POSTGRES') IS NULL THEN
            PERFORM omd.raise_error('OM016', jsonb_build_object('topic', coalesce(v_text, 'NULL')));
        END IF;
    END LOOP;

    -- Two registrations at the same time could close a cycle that neither of them sees, so they run
    -- one after the other.
    LOCK TABLE omd_lineage.dependency IN SHARE ROW EXCLUSIVE MODE;
    SELECT t.* INTO v_old FROM omd_lineage.topic AS t WHERE t.topic = p_topic FOR NO KEY UPDATE;
    v_is_new := NOT FOUND;

    v_new.depends_on := coalesce(p_depends_on, v_old.depends_on, '{}');
    v_new.transforms := coalesce(p_transforms, v_old.transforms, '{}');
    v_new.processor := coalesce(
        nullif(p_processor, ''),
        v_old.processor,
        CASE WHEN v_new.transforms <> '{}' THEN 'STEP' END
    );
    v_new.engine := coalesce(p_engine, v_old.engine, 'POSTGRES');
    v_new.delay := coalesce(p_delay, v_old.delay, interval '0');
    v_new.repeat := coalesce(p_repeat, v_old.repeat, interval '1 hour');
    v_new.maxstep := coalesce(p_maxstep, v_old.maxstep, 1000000);
    v_new.run_window := nullif(
        coalesce(omd_lineage._normal_run_window(p_run_window), v_old.run_window), ''
    );
    v_new.max_wait := nullif(coalesce(p_max_wait, v_old.max_wait), interval '0');
    v_new.source_offset := coalesce(p_source_offset, v_old.source_offset, 'PROBE');
    v_new.reload_method := coalesce(p_reload_method, v_old.reload_method, 'TRUNCATE');
    CALL omd_lineage._check_topic(v_new);

    IF v_new.processor IS NOT NULL THEN
        CALL omd_lineage._register_topic_module(
            p_topic, v_name.p_table_code, v_new.engine, p_comment, v_old.module_id, p_module_code,
            p_area_code, p_table_type_code, p_platform_code, v_new.module_id
        );
    END IF;

    INSERT INTO omd_lineage.topic AS t (
        topic, table_code, tag, shard, module_id, depends_on, processor, engine, transforms, delay,
        repeat, maxstep, run_window, max_wait, before_sql, after_sql, pos_column, id_column,
        source_offset, reload_method, advance_when_quiet, inactive_indicator, comment, updated_by,
        updated_at
    )
    VALUES (
        p_topic, v_name.p_table_code, v_name.p_tag, v_name.p_shard, v_new.module_id,
        v_new.depends_on, v_new.processor, v_new.engine, v_new.transforms, v_new.delay, v_new.repeat, v_new.maxstep,
        v_new.run_window, v_new.max_wait,
        coalesce(p_before_sql, v_old.before_sql, '{}'),
        coalesce(p_after_sql, v_old.after_sql, '{}'),
        coalesce(p_pos_column, v_old.pos_column),
        coalesce(p_id_column, v_old.id_column),
        v_new.source_offset, v_new.reload_method,
        coalesce(p_advance_when_quiet, v_old.advance_when_quiet, TRUE),
        coalesce(
            omd.require_code('inactive indicator', p_inactive_indicator),
            v_old.inactive_indicator,
            'N'
        ),
        coalesce(p_comment, v_old.comment), omd.editor(), clock_timestamp()
    )
    ON CONFLICT (topic) DO UPDATE SET
        module_id = excluded.module_id,
        depends_on = excluded.depends_on,
        processor = excluded.processor,
        engine = excluded.engine,
        transforms = excluded.transforms,
        delay = excluded.delay,
        repeat = excluded.repeat,
        maxstep = excluded.maxstep,
        run_window = excluded.run_window,
        max_wait = excluded.max_wait,
        before_sql = excluded.before_sql,
        after_sql = excluded.after_sql,
        pos_column = excluded.pos_column,
        id_column = excluded.id_column,
        source_offset = excluded.source_offset,
        reload_method = excluded.reload_method,
        advance_when_quiet = excluded.advance_when_quiet,
        inactive_indicator = excluded.inactive_indicator,
        comment = excluded.comment,
        updated_by = excluded.updated_by,
        updated_at = excluded.updated_at
    RETURNING t.topic_id INTO p_topic_id;

    IF p_start_pos IS NOT NULL AND NOT v_is_new THEN
        PERFORM omd_lineage._require_unplanned(p_topic_id);
    END IF;
    INSERT INTO omd_lineage.offsets AS o (topic_id, topic, last, run, waiting_since)
    VALUES (
        p_topic_id,
        p_topic,
        CASE
            WHEN v_new.processor IS NOT NULL OR p_start_pos IS NOT NULL
                THEN
                    ROW(
                        coalesce(p_start_pos, '-infinity'),
                        coalesce(p_start_id, -9223372036854775808)
                    )::omd_lineage.row_position
        END,
        '-infinity',
        clock_timestamp()
    )
    ON CONFLICT (topic_id) DO UPDATE SET
        last = coalesce(
            CASE WHEN p_start_pos IS NOT NULL THEN excluded.last END, o.last, excluded.last
        ),
        quiet_start = CASE WHEN p_start_pos IS NULL THEN o.quiet_start END;

    PERFORM omd_lineage._resolve_dependencies(p_topic_id);
    IF v_is_new THEN
        PERFORM omd_lineage._resolve_dependencies(d.topic_id)
        FROM (
            SELECT DISTINCT other.topic_id FROM omd_lineage.dependency AS other
            WHERE other.table_code = v_name.p_table_code AND other.topic_id <> p_topic_id
        ) AS d;
    END IF;
    PERFORM omd_lineage._require_no_cycle(p_topic_id);

    FOR v_text IN
        SELECT d.depends_on FROM omd_lineage.dependency AS d
        WHERE d.topic_id = p_topic_id AND d.source_topic_id IS NULL
        ORDER BY d.ordinal
    LOOP
        RAISE WARNING USING
            MESSAGE = format('topic "%s" waits for %s, which is not a topic yet', p_topic, v_text),
            HINT = format('CALL omd_lineage.register_topic(%L);', v_text);
    END LOOP;
END
$save_topic$;

COMMENT ON PROCEDURE omd_lineage._save_topic IS
'Saves the topic p_topic with its Module, its offset and its dependencies; the parameters and '
'errors are those of register_topic. Locks: other registrations; the Module row.';
REVOKE ALL ON PROCEDURE omd_lineage._save_topic FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage._save_topic TO omd_admin;
