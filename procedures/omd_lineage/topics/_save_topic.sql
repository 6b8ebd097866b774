-- The procedure is SECURITY DEFINER, since it writes; register_topic, which calls it, reads the
-- table with the rights of the caller.

CREATE OR REPLACE PROCEDURE omd_lineage._save_topic(
    p_given omd_lineage.topic,
    p_module_code text,
    p_area_code text,
    p_table_type_code text,
    p_platform_code text,
    p_backoff interval,
    p_backoff_limit interval,
    p_max_failures integer,
    p_start_pos timestamptz,
    p_start_id bigint,
    INOUT p_topic_id integer,
    INOUT p_starts_anew boolean DEFAULT NULL,
    INOUT p_former_pos timestamptz DEFAULT NULL,
    INOUT p_former_id bigint DEFAULT NULL
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
    v_kind text;
    v_block_view text;
    v_start omd_lineage.row_position;
    v_positions jsonb;
    v_changed record;
    v_text text;
    v_place integer;
BEGIN
    PERFORM omd.require_name('p_topic', p_given.topic);
    v_name := omd_lineage._topic_parts(p_given.topic);
    IF v_name.p_canonical_topic IS NULL THEN
        PERFORM omd.raise_error('OM016', jsonb_build_object('topic', p_given.topic));
    END IF;
    p_given.topic := v_name.p_canonical_topic;
    FOR v_text, v_place IN
        SELECT d.name, d.n::integer
        FROM unnest(p_given.depends_on) WITH ORDINALITY AS d (name, n)
    LOOP
        p_given.depends_on[v_place] := (omd_lineage._topic_parts(v_text)).p_canonical_topic;
        IF p_given.depends_on[v_place] IS NULL THEN
            PERFORM omd.raise_error('OM016', jsonb_build_object('topic', coalesce(v_text, 'NULL')));
        END IF;
    END LOOP;

    -- Two registrations at the same time could close a cycle that neither of them sees, so they run
    -- one after the other.
    LOCK TABLE omd_lineage.dependency IN SHARE ROW EXCLUSIVE MODE;
    SELECT t.* INTO v_old FROM omd_lineage.topic AS t
    WHERE t.topic = p_given.topic
    FOR NO KEY UPDATE;
    v_is_new := NOT FOUND;
    -- A step that begins locks the offset before the Module; so does this, or they could deadlock.
    PERFORM FROM omd_lineage.offsets AS o WHERE o.topic_id = v_old.topic_id FOR NO KEY UPDATE;
    v_positions := omd_lineage._read_positions(v_old.topic_id);

    -- A NULL keeps what is there, whatever the column.
    v_new := jsonb_populate_record(v_old, jsonb_strip_nulls(to_jsonb(p_given)));
    v_new.topic_id := coalesce(
        v_new.topic_id, nextval(pg_get_serial_sequence('omd_lineage.topic', 'topic_id'))::integer
    );
    v_new.table_code := v_name.p_table_code;
    v_new.tag := v_name.p_tag;
    v_new.shard := v_name.p_shard;
    v_new.depends_on := coalesce(v_new.depends_on, '{}');
    v_new.transforms := coalesce(v_new.transforms, '{}');
    v_new.before_sql := coalesce(v_new.before_sql, '{}');
    v_new.after_sql := coalesce(v_new.after_sql, '{}');
    v_new.processor := coalesce(
        v_new.processor, CASE WHEN v_new.transforms <> '{}' THEN 'STEP' END
    );
    v_new.processor := coalesce(omd.quote_table(v_new.processor, 'POSTGRES'), v_new.processor);
    v_new.engine := coalesce(v_new.engine, 'POSTGRES');
    IF v_new.engine = 'POSTGRES' THEN
        v_new.transforms := ARRAY(
            SELECT coalesce(omd.quote_table(v.name, 'POSTGRES'), v.name)
            FROM unnest(v_new.transforms) WITH ORDINALITY AS v (name, n)
            ORDER BY v.n
        );
    END IF;
    v_new.delay := coalesce(v_new.delay, interval '0');
    SELECT omd_lineage._source_kind(
        n.p_table_code, TRUE, v_new.pos_column,
        CASE WHEN s.processor IS NULL THEN s.source_offset END,
        CASE WHEN s.processor IS NULL THEN s.pos_column END,
        s.processor IS NOT NULL
    )
    INTO v_kind
    FROM omd_lineage._topic_parts(coalesce(v_new.depends_on[1], v_new.topic)) AS n
    LEFT JOIN LATERAL (
        SELECT t.processor, t.source_offset, t.pos_column
        FROM omd_lineage.topic AS t
        WHERE t.table_code = n.p_table_code AND v_new.depends_on <> '{}'
        ORDER BY t.topic_id
        LIMIT 1
    ) AS s ON TRUE;
    v_new.source_offset := omd_lineage._settle_source_offset(
        p_given.source_offset, v_new.source_offset, v_kind, v_new.depends_on = '{}'
    );
    -- Changes and runs say when there is news, so nothing is won by a pause.
    v_new.repeat := coalesce(
        v_new.repeat,
        CASE WHEN v_kind IN ('FACTS', 'RUNS') THEN interval '0' ELSE interval '1 hour' END
    );
    v_new.maxstep := coalesce(v_new.maxstep, 1000000);
    IF p_given.run_window IS NOT NULL THEN
        v_new.run_window := nullif(omd_lineage._normal_run_window(p_given.run_window), '');
    END IF;
    v_new.max_wait := nullif(v_new.max_wait, interval '0');
    v_new.max_age := nullif(v_new.max_age, interval '0');
    v_new.take_ties := CASE WHEN v_new.take_ties >= interval '0' THEN v_new.take_ties END;
    v_new.merge_key := nullif(v_new.merge_key, '{}');
    v_new.recompute_key := nullif(v_new.recompute_key, '{}');
    v_new.reload_method := coalesce(v_new.reload_method, 'DELETE');
    v_new.advance_when_quiet := coalesce(v_new.advance_when_quiet, TRUE);
    v_new.inactive_indicator := coalesce(
        omd.require_code('inactive indicator', v_new.inactive_indicator), 'N'
    );
    v_new.updated_by := omd.editor();
    v_new.updated_at := clock_timestamp();
    CALL omd_lineage._check_topic(v_new);
    -- A block that is to be taken again fits what it was read from, and how.
    IF (
        v_old.processor, v_old.merge_key, v_old.recompute_key, v_old.depends_on[1],
        v_old.pos_column, v_old.id_column
    ) IS DISTINCT FROM (
        v_new.processor, v_new.merge_key, v_new.recompute_key, v_new.depends_on[1],
        v_new.pos_column, v_new.id_column
    )
        AND omd_lineage._is_recalled(v_old.topic_id)
    THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', v_old.topic,
                'problem', 'how it reads and writes can''t be changed before the blocks are taken '
                'again that a recall took back; its steps take them'
            )
        );
    END IF;

    IF v_new.processor IS NOT NULL THEN
        CALL omd_lineage._register_topic_module(
            v_new.topic, v_new.table_code, v_new.engine, p_given.comment, v_old.module_id,
            p_module_code, p_area_code, p_table_type_code, p_platform_code, p_backoff,
            p_backoff_limit, p_max_failures, v_new.module_id
        );
        IF num_nonnulls(v_new.merge_key, v_new.recompute_key) > 0 THEN
            CALL omd_lineage._register_put_back(v_new.module_id);
        END IF;
    END IF;

    INSERT INTO omd_lineage.topic AS t OVERRIDING SYSTEM VALUE SELECT v_new.*
    ON CONFLICT (topic) DO UPDATE SET
        module_id = excluded.module_id,
        depends_on = excluded.depends_on,
        processor = excluded.processor,
        transforms = excluded.transforms,
        engine = excluded.engine,
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
        merge_key = excluded.merge_key,
        recompute_key = excluded.recompute_key,
        max_age = excluded.max_age,
        take_ties = excluded.take_ties,
        updated_by = excluded.updated_by,
        updated_at = excluded.updated_at;
    p_topic_id := v_new.topic_id;

    IF v_new.processor IS NOT NULL OR p_start_pos IS NOT NULL THEN
        v_start := ROW(
            coalesce(p_start_pos, '-infinity'), coalesce(p_start_id, -9223372036854775808)
        );
    END IF;
    IF p_start_pos IS NOT NULL AND NOT v_is_new THEN
        SELECT f.pos, f.id INTO p_former_pos, p_former_id
        FROM omd_lineage._require_unplanned(p_topic_id) AS f;
    END IF;
    p_starts_anew := p_start_pos IS NULL AND v_start IS NOT NULL AND NOT EXISTS (
        SELECT FROM omd_lineage.offsets AS o WHERE o.topic_id = p_topic_id AND o.last IS NOT NULL
    );
    INSERT INTO omd_lineage.offsets AS o (topic_id, topic, last, run, waiting_since)
    VALUES (p_topic_id, v_new.topic, v_start, '-infinity', clock_timestamp())
    ON CONFLICT (topic_id) DO UPDATE SET
        last = coalesce(
            CASE WHEN p_start_pos IS NOT NULL THEN excluded.last END, o.last, excluded.last
        ),
        is_whole = o.is_whole AND p_start_pos IS NULL,
        quiet_start = CASE WHEN p_start_pos IS NULL THEN o.quiet_start END;

    PERFORM omd_lineage._resolve_dependencies(p_topic_id);
    IF v_is_new THEN
        PERFORM omd_lineage._resolve_dependencies(d.topic_id)
        FROM (
            SELECT DISTINCT other.topic_id FROM omd_lineage.dependency AS other
            WHERE other.table_code = v_new.table_code AND other.topic_id <> p_topic_id
        ) AS d;
    END IF;
    PERFORM omd_lineage._require_no_cycle(p_topic_id);
    IF v_new.processor IS NOT NULL AND p_given.take_ties IS NOT NULL THEN
        UPDATE omd_lineage.topic AS s SET take_ties = v_new.take_ties
        WHERE s.processor IS NULL
            AND s.topic_id IN (
                SELECT d.source_topic_id FROM omd_lineage.dependency AS d
                WHERE d.topic_id = p_topic_id
            );
    END IF;
    -- It would be a source without a word, and never run. Who says by hand how far a table is has
    -- said that somebody else makes it.
    IF v_new.processor IS NULL AND v_new.depends_on <> '{}' AND v_new.source_offset <> 'HAND' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_transforms',
                'value', v_new.transforms::text,
                'expected', 'at least one transform, or p_processor, since p_depends_on is given;'
                ' a source depends on nothing, or has p_source_offset HAND'
            )
        );
    END IF;
    PERFORM omd_lineage._require_one_kind(p_topic_id);
    PERFORM omd.declare_reader(
        v_new.module_id,
        coalesce(b.source_code, ''),
        ARRAY(
            SELECT s.table_code
            FROM omd_lineage.dependency AS d
            INNER JOIN omd.source_position AS s USING (table_code)
            WHERE d.topic_id = p_topic_id AND s.source_code = b.source_code
        )
    )
    FROM (SELECT omd_lineage._block_source(p_topic_id) AS source_code) AS b
    WHERE v_new.module_id IS NOT NULL;
    PERFORM omd_lineage._save_topic_inputs(p_topic_id);
    PERFORM omd_lineage._save_topic_inputs(d.topic_id)
    FROM (
        SELECT other.topic_id FROM omd_lineage.dependency AS other
        INNER JOIN omd_lineage.topic AS t ON other.topic_id = t.topic_id
        WHERE other.table_code = v_new.table_code AND other.topic_id <> p_topic_id
        GROUP BY other.topic_id, t.module_id
        ORDER BY t.module_id
    ) AS d;
    -- A topic whose view is broken can still be switched off.
    IF v_kind = 'FACTS' AND v_new.processor IS NOT NULL AND v_new.inactive_indicator = 'N' THEN
        v_block_view := omd.block_view(
            (omd_lineage._topic_parts(v_new.depends_on[1])).p_table_code
        );
    END IF;
    IF v_new.processor = 'STEP' AND v_new.engine = 'POSTGRES'
        AND v_new.inactive_indicator = 'N'
    THEN
        PERFORM omd_lineage._require_block_views(
            v_new.topic,
            (omd_lineage._topic_parts(v_new.depends_on[1])).p_table_code,
            v_new.transforms,
            v_new.recompute_key IS NOT NULL,
            v_block_view
        );
    END IF;

    SELECT t.topic_id, t.topic, o.last, n.value AS positions, before.value AS former INTO v_changed
    FROM jsonb_each(v_positions) AS before
    INNER JOIN jsonb_each(omd_lineage._read_positions(p_topic_id)) AS n USING (key)
    INNER JOIN omd_lineage.topic AS t ON before.key::integer = t.topic_id
    INNER JOIN omd_lineage.offsets AS o ON t.topic_id = o.topic_id
    WHERE before.value <> n.value AND NOT (t.topic_id = p_topic_id AND p_start_pos IS NOT NULL)
    ORDER BY t.topic_id <> p_topic_id, t.topic
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM215',
            v_changed.positions || jsonb_build_object(
                'topic', v_changed.topic,
                'former_table_code', v_changed.former ->> 'table_code',
                'former_pos_column', v_changed.former ->> 'pos_column',
                'former_id_column', v_changed.former ->> 'id_column',
                'last_pos', (v_changed.last).pos,
                'last_id', (v_changed.last).id
            )
        );
    END IF;
    -- Rows that are there may be those of the other topics of the table, unless this one has had
    -- steps before it was removed.
    p_starts_anew := p_starts_anew
        AND omd_lineage._inserts_only(v_new)
        AND EXISTS (
            SELECT FROM omd.module_target AS m
            WHERE m.module_id = v_new.module_id AND m.platform_code = 'POSTGRES'
        )
        AND (
            NOT EXISTS (
                SELECT FROM omd_lineage.topic AS other
                WHERE other.table_code = v_new.table_code
                    AND other.topic_id <> p_topic_id
                    AND other.processor IS NOT NULL
            )
            OR EXISTS (
                SELECT FROM omd.instances_since(v_new.module_id, '-infinity') AS i
                INNER JOIN omd_lineage.log AS l USING (module_instance_id)
            )
        );

    FOR v_text IN
        SELECT d.depends_on FROM omd_lineage.dependency AS d
        WHERE d.topic_id = p_topic_id AND d.source_topic_id IS NULL AND d.source_kind_code IS NULL
        ORDER BY d.ordinal
    LOOP
        RAISE WARNING USING
            MESSAGE = format('topic "%s" waits for %s, which is not a topic yet', v_new.topic, v_text),
            HINT = format('CALL omd_lineage.register_topic(%L);', v_text);
    END LOOP;
END
$save_topic$;

COMMENT ON PROCEDURE omd_lineage._save_topic IS
'Saves the topic p_given with its Module, its offset and its dependencies; a NULL in it keeps the '
'present value. Returns p_topic_id, and p_starts_anew, which is true when its first step would '
'insert all rows of its base table and rows that its table holds may be of these, and '
'p_former_pos and p_former_id, the offset that p_start_pos has replaced. The other parameters and '
'the errors are those of register_topic. Locks: other registrations; the offset; the Module row.';
GRANT EXECUTE ON PROCEDURE omd_lineage._save_topic TO omd_admin;
