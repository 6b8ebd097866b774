-- _save_topic writes with its own rights; this procedure reads the table with the rights of the
-- caller. A new column of omd_lineage.topic is a parameter and an assignment here, and its default
-- and its place in the row are in _save_topic.

CREATE OR REPLACE PROCEDURE omd_lineage.register_topic(
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
    p_merge_key text[] DEFAULT NULL,
    p_recompute_key text[] DEFAULT NULL,
    p_max_age interval DEFAULT NULL,
    p_backoff interval DEFAULT NULL,
    p_backoff_limit interval DEFAULT NULL,
    p_max_failures integer DEFAULT NULL,
    INOUT p_topic_id integer DEFAULT NULL,
    p_take_ties interval DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $register_topic$
DECLARE
    v_new omd_lineage.topic;
    v_problem text;
    v_starts_anew boolean;
    v_former_pos timestamptz;
    v_former_id bigint;
    v_table_code text;
BEGIN
    v_new.topic := p_topic;
    v_new.depends_on := p_depends_on;
    v_new.processor := nullif(p_processor, '');
    v_new.transforms := p_transforms;
    v_new.engine := p_engine;
    v_new.delay := p_delay;
    v_new.repeat := p_repeat;
    v_new.maxstep := p_maxstep;
    v_new.run_window := p_run_window;
    v_new.max_wait := p_max_wait;
    v_new.before_sql := p_before_sql;
    v_new.after_sql := p_after_sql;
    v_new.pos_column := p_pos_column;
    v_new.id_column := p_id_column;
    v_new.source_offset := p_source_offset;
    v_new.reload_method := p_reload_method;
    v_new.advance_when_quiet := p_advance_when_quiet;
    v_new.inactive_indicator := p_inactive_indicator;
    v_new.comment := p_comment;
    v_new.merge_key := p_merge_key;
    v_new.recompute_key := p_recompute_key;
    v_new.max_age := p_max_age;
    v_new.take_ties := p_take_ties;
    CALL omd_lineage._save_topic(
        v_new, p_module_code, p_area_code, p_table_type_code, p_platform_code, p_backoff,
        p_backoff_limit, p_max_failures, p_start_pos, p_start_id, p_topic_id, v_starts_anew,
        v_former_pos, v_former_id
    );
    PERFORM omd_lineage._warn_of_rows_again(p_topic_id, ROW(v_former_pos, v_former_id), o.last)
    FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id
        AND v_former_id IS NOT NULL
        AND o.last < ROW(v_former_pos, v_former_id)::omd_lineage.row_position;
    IF v_starts_anew THEN
        SELECT t.table_code INTO v_table_code FROM omd_lineage.topic AS t
        WHERE t.topic_id = p_topic_id;
        IF omd_lineage._holds_rows(v_table_code) THEN
            PERFORM omd.raise_error(
                'OM216', jsonb_build_object('topic', p_topic, 'table_code', v_table_code)
            );
        END IF;
    END IF;
    PERFORM omd_lineage._require_position(b.table_code, b.pos_column, b.id_column)
    FROM omd_lineage.base_table AS b
    WHERE b.topic_id = p_topic_id
        AND coalesce(b.source_kind_code NOT IN ('FACTS', 'LAKE'), TRUE);
    SELECT p.p_error INTO v_problem
    FROM omd_lineage.source_list AS s
    CROSS JOIN LATERAL omd_lineage._try_probe(
        s.source, s.topic_id, s.table_code, s.pos_column, s.id_column, s.is_read,
        'REGISTRATION'
    ) AS p
    WHERE s.topic_id = p_topic_id AND s.source_offset NOT IN ('FACTS', 'RUNS');
    IF v_problem IS NOT NULL THEN
        RAISE WARNING USING MESSAGE = v_problem;
    END IF;
    -- The guard against open writers can't see a transaction that has not written yet, and now() is
    -- the start of that transaction.
    IF EXISTS (
        SELECT FROM omd_lineage.topic AS t
        INNER JOIN omd_lineage.base_table AS b USING (topic_id)
        INNER JOIN pg_attribute AS a ON a.attrelid = omd.target_relation(b.table_code)
            AND a.attname = b.pos_column
        INNER JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE t.topic_id = p_topic_id
            AND t.processor IS NULL
            AND pg_get_expr(d.adbin, d.adrelid) IN (
                'now()', 'CURRENT_TIMESTAMP', 'transaction_timestamp()'
            )
    ) THEN
        RAISE WARNING USING
            MESSAGE = format(
                'a row of %s carries the start of its transaction, which may be long before its '
                'writing', p_topic
            ),
            HINT = 'Use clock_timestamp() as the default of the time column, or give the topics '
                'that read it a p_delay longer than the longest transaction.';
    END IF;
END
$register_topic$;

COMMENT ON PROCEDURE omd_lineage.register_topic IS
'Inserts or updates the topic p_topic (schema.table[#tag][:shard]), with its Module, its offset '
'and its dependencies; a NULL argument keeps the present value. p_depends_on: tables or topics; '
'the first is the base table. p_processor: STEP (the default with p_transforms), RELOAD, or a '
'procedure schema.procedure of yours, which is called with the topic; NULL: a source. '
'p_transforms: in order, views or, on Spark, SQL texts or module:function. p_engine: POSTGRES '
'(the default) or SPARK. p_delay: rows younger than this wait. p_repeat: least time between steps '
'(1 hour; 0 where the base table is read by changes of facts or by runs). p_maxstep: most rows '
'per block (1,000,000). p_run_window: ''22:00-06:00'', with a time zone or in that of the '
'session; '''': none. p_max_wait: after this time a step no longer waits for dependencies that '
'lag; 0: it always waits. p_before_sql, p_after_sql: statements before and after the transforms, '
'with qualified names. p_pos_column, p_id_column: the columns of the position (pos, id) in the '
'base table; p_pos_column '''': the position is the id alone. p_source_offset: PROBE, CLOCK, '
'TRIGGER or HAND; LAKE: the source is a lake table, and its commits are its positions; RUNS: the '
'runs of the Modules that write it are, which is the default where p_pos_column is '
'omd_insert_datetime. A view that an interface offers is read by its changes, whoever registers '
'it. p_reload_method: DELETE (the default), TRUNCATE or SWAP. p_advance_when_quiet: the offset '
'moves on when there is nothing new. p_inactive_indicator: Y skips each step, N does not. '
'p_comment: what the topic is. p_module_code: its Module, which is named like the topic when none '
'is given. p_area_code: area of its Module (PRES). p_table_type_code: table type of its Module. '
'p_platform_code: platform of its Module, POSTGRES or SPARK. p_start_pos, p_start_id: rows up to '
'this position are not read (by the id alone: p_start_pos -infinity); -infinity reads all rows. '
'p_merge_key: columns of the destination; rows of a block replace those with the same values. '
'p_recompute_key: columns of the destination; the first view of p_transforms names the values '
'that a block touches, and the second computes their rows anew from the whole base table. '
'p_max_age: how old the newest row of a source may be; 0: nothing is promised. p_backoff: how '
'long it waits after a failure (10 seconds), twice as long after each further one in a row. '
'p_backoff_limit: the longest such wait (1 hour). p_max_failures: after so many failures in a row '
'it waits for omd.retry (10); 0: never. p_take_ties: so long after it was seen first, the newest '
'instant of a source is taken although rows of it may still come; NULL: never; a negative one '
'takes it back. A topic sets it for the sources on which it depends. Returns p_topic_id. Errors: '
'OM005: p_topic is NULL; OM006: a code is unknown; OM009: the table is no name on the platform; '
'OM013: an argument has a value that is not allowed; OM016: p_topic, or a dependency, is no name '
'of a topic; OM017: it would depend on itself; OM111: another target while a rollback is pending; '
'OM204: another platform than that of a companion; OM205: its destination lacks the column that '
'tells the run; OM206: the columns of the position are no timestamptz and integer; OM208: '
'p_start_pos while the topic is held, a block is planned, or a step waits for its rollback; '
'OM209: nothing is known that would undo a load of its table format; OM210: a destination in a '
'schema of OMD or PostgreSQL; OM211: an argument or a dependency needs a time, and the position '
'is the id alone; OM213: a view of a STEP does not read its base table by blocks, or the view of '
'changes of facts; OM215: another base table or other columns of the position, without '
'p_start_pos; OM216: a destination that holds rows, without p_start_pos. Locks: other '
'registrations; the Module row. See docs/explanation/lineage.md. Call again when the answer was '
'lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.register_topic TO omd_admin;
