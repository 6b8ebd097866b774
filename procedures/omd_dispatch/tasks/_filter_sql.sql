-- The condition names the status as a constant, so that the partial indexes of live and dead tasks
-- serve it; that of pending tasks and that of suspended ones are two. The index of dead tasks has
-- them in the order of their ids; for the others, + 0 keeps the planner from walking the primary
-- key over all that has finished. A task that was asked to end is done with.
--
-- Stamps are compared, not what a snapshot sees: what has changed its status since the count has a
-- stamp that is not before p_counted_at.

CREATE OR REPLACE FUNCTION omd_dispatch._filter_sql(
    p_filter jsonb,
    p_counted_at timestamptz,
    OUT p_family_code text,
    OUT p_condition text,
    OUT p_id text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $filter_sql$
DECLARE
    v_given record;
    v_problem text;
BEGIN
    PERFORM omd.require_filter(
        p_filter,
        '{
            "family_code": {"kind": "text", "required": true},
            "statuses": {"kind": "texts", "required": true, "of": ["PENDING", "CLAIMED", "DEAD"]},
            "task_types": {"kind": "texts"},
            "lane": {"kind": "text"},
            "criteria": {"kind": "object"},
            "suspension_id": {"kind": "id"},
            "task_ids": {"kind": "ids"},
            "error": {"kind": "text"},
            "since": {"kind": "time"},
            "until": {"kind": "time"}
        }'
    );
    p_family_code := p_filter ->> 'family_code';
    PERFORM omd_dispatch._require_family(p_family_code);
    PERFORM omd_dispatch._require_new_model(p_family_code);
    PERFORM omd_dispatch._require_type(p_family_code, t.item #>> '{}')
    FROM omd.json_items(p_filter -> 'task_types') AS t;
    IF p_filter ? 'error' AND NOT omd.reads_rows() THEN
        RAISE EXCEPTION USING
            ERRCODE = 'insufficient_privilege',
            MESSAGE = 'permission denied: only omd_data_reader filters by the text of an error',
            DETAIL = '{}',
            HINT = omd.role_hint('omd_data_reader');
    END IF;

    SELECT
        concat_ws(
            ' AND ',
            format(
                '(%s)',
                coalesce(
                    string_agg(
                        concat_ws(
                            ' AND ',
                            s.condition,
                            format('%s < %L', s.stamp, p_counted_at),
                            s.stamp || ' >= '
                            || quote_literal((p_filter ->> 'since')::timestamptz),
                            s.stamp || ' < ' || quote_literal((p_filter ->> 'until')::timestamptz)
                        ),
                        ' OR '
                    ),
                    'FALSE'
                )
            ),
            't.task_type = ANY(' || quote_literal(
                (SELECT array_agg(i.item #>> '{}') FROM omd.json_items(p_filter -> 'task_types') AS i)
            ) || ')',
            't.task_id = ANY(' || quote_literal(
                (SELECT array_agg(i.item #>> '{}') FROM omd.json_items(p_filter -> 'task_ids') AS i)
            ) || ')',
            CASE
                WHEN p_filter ? 'suspension_id'
                    THEN omd_dispatch._held_sql(
                        p_family_code, (p_filter ->> 'suspension_id')::bigint
                    )
            END,
            't.lane = ' || quote_literal(p_filter ->> 'lane'),
            'starts_with(t.error, ' || quote_literal(p_filter ->> 'error') || ')'
        ),
        CASE WHEN p_filter -> 'statuses' <@ '["DEAD"]' THEN 't.task_id' ELSE 't.task_id + 0' END
    INTO p_condition, p_id
    FROM (
        VALUES
        (
            'PENDING', 't.status = ''PENDING'' AND t.suspension_id IS NULL',
            'coalesce(t.pending_since, t.created_at)'
        ),
        (
            'PENDING', 't.status = ''PENDING'' AND t.suspension_id IS NOT NULL',
            'coalesce(t.pending_since, t.created_at)'
        ),
        ('CLAIMED', 't.status = ''CLAIMED'' AND NOT t.cancel_requested', 't.claimed_at'),
        ('DEAD', 't.status = ''DEAD''', 't.finished_at')
    ) AS s (status, condition, stamp)
    WHERE p_filter -> 'statuses' ? s.status
        AND (s.status = 'PENDING' OR NOT p_filter ? 'suspension_id');

    FOR v_given IN
        SELECT
            c.key AS criterion,
            m.data_type,
            array_agg(v.item #>> '{}') AS allowed,
            bool_or(
                coalesce(jsonb_typeof(v.item) IN ('object', 'array', 'null'), TRUE)
            ) AS is_wrong
        FROM jsonb_each(coalesce(p_filter -> 'criteria', '{}')) AS c
        LEFT JOIN omd_dispatch.task_conf_family_model AS m
            ON m.family_code = p_family_code AND c.key = m.criterion
        LEFT JOIN LATERAL omd.json_items(
            CASE
                WHEN jsonb_typeof(c.value) = 'array' THEN c.value
                ELSE jsonb_build_array(c.value)
            END
        ) AS v ON TRUE
        GROUP BY c.key, m.data_type
        ORDER BY c.key
    LOOP
        PERFORM omd_dispatch._require_criterion(p_family_code, v_given.criterion);
        v_problem := CASE WHEN v_given.is_wrong THEN 'it is no scalar' END;
        BEGIN
            EXECUTE format('SELECT %L::%s[]', v_given.allowed, v_given.data_type);
        EXCEPTION
            WHEN data_exception THEN
                v_problem := coalesce(v_problem, sqlerrm);
        END;
        IF v_problem IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM078',
                jsonb_build_object(
                    'family_code', p_family_code,
                    'criterion', v_given.criterion,
                    'problem', v_problem
                )
            );
        END IF;
        p_condition := p_condition || format(
            ' AND t.%I = ANY(%L::%s[])', 'func_' || lower(v_given.criterion), v_given.allowed,
            v_given.data_type
        );
    END LOOP;
END
$filter_sql$;

COMMENT ON FUNCTION omd_dispatch._filter_sql IS
'Returns the family p_family_code that the filter p_filter names, the SQL condition of the tasks t '
'that it describes and that have had their status since before p_counted_at, and the SQL '
'expression p_id by which they are put in the order of their ids. Errors: OM070, OM071, OM075, '
'OM078, OM099, OM173; 42501: it names an error, and the caller lacks omd_data_reader. Locks: none.';
