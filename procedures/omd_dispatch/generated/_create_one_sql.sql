-- A single task spends most of its time on statements, settings and calls, and not on its row. As
-- an array of one, by _insert_tasks, it took the server 3.3 times what the bare INSERT of its row
-- and its notification take, and this way takes 2.0. So here is the way of a task about which
-- there is nothing to say. Whatever else there is (an argument that is refused, a mistake in the
-- criteria, the old model) is left to _insert_tasks, and the answer is NULL. It has no rights of
-- its own: create_task, which alone calls it, has them.
--
-- The model is held first, so that what is read then stays until the commit. What an index gets is
-- not much longer than the criteria, so it has room for them here. What is read as a part of the
-- INSERT was not faster (137 microseconds, and 135 as it is), and FOR KEY SHARE on the table of the
-- lock instead of LOCK TABLE saved nothing either.

CREATE OR REPLACE FUNCTION omd_dispatch._create_one_sql(
    p_family_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_one_sql$
DECLARE
    v_family omd_dispatch.task_conf_family_desc;
    v_names text;
    v_columns text;
    v_values text;
    v_criteria text;
    v_mistakes text;
    v_keys text;
    v_without_key text;
    v_may_fail boolean;
    v_body text;
BEGIN
    SELECT f.* INTO v_family
    FROM omd_dispatch.task_conf_family_desc AS f
    WHERE f.family_code = p_family_code;
    SELECT
        string_agg(quote_literal(v.criterion), ', ' ORDER BY v.criterion),
        string_agg(format(', %I', 'func_' || lower(v.criterion)), '' ORDER BY v.criterion),
        string_agg(', ' || v.typed, '' ORDER BY v.criterion),
        string_agg(format('%L, %s', v.criterion, v.typed), ', ' ORDER BY v.criterion),
        string_agg(
            format(
                $sql$
                CASE coalesce(jsonb_typeof(p_criteria -> %1$L), 'null')
                    WHEN 'null' THEN NOT v_modes && ARRAY[%2$L, %3$L]
                    WHEN 'object' THEN TRUE
                    WHEN 'array' THEN TRUE
                    ELSE %2$L = ANY(v_modes)
                END
                $sql$,
                v.criterion, v.criterion || 'D', v.criterion || 'O'
            ),
            ' OR ' ORDER BY v.criterion
        ),
        string_agg(
            format(
                $sql$
                || CASE
                    WHEN %2$L = ANY(v_modes) THEN '[]'
                    ELSE jsonb_build_array(v_criteria -> %1$L)
                END
                $sql$,
                v.criterion, v.criterion || 'D'
            ),
            '' ORDER BY v.criterion
        ) FILTER (WHERE v.is_key),
        string_agg(quote_literal(v.criterion || 'D'), ', ') FILTER (WHERE v.is_key),
        coalesce(bool_or(v.data_type <> 'text'), FALSE)
    INTO
        v_names, v_columns, v_values, v_criteria, v_mistakes, v_keys, v_without_key, v_may_fail
    FROM (
        SELECT
            m.criterion,
            m.data_type,
            m.is_key,
            format(
                CASE m.data_type
                    WHEN 'text' THEN '(p_criteria ->> %L)'
                    WHEN 'numeric' THEN 'trim_scale((p_criteria ->> %L)::numeric)'
                    ELSE '(p_criteria ->> %L)::' || m.data_type
                END,
                m.criterion
            ) AS typed
        FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code
    ) AS v;

    v_body := format(
        $sql$
        SELECT
            t.deliver_id,
            t.deliver_id,
            t.max_running IS NULL,
            omd.is_by_hand(),
            EXISTS (
                SELECT FROM omd_dispatch.task_suspension AS s
                WHERE s.family_code = %1$L AND s.resumed_at IS NULL
            )
            %2$s
        FROM omd_dispatch.task_conf_type_desc AS t
        WHERE t.family_code = %1$L
            AND t.task_type = p_task_type
            %3$s
            AND coalesce(isfinite(p_execution_time), TRUE)
            AND coalesce(p_priority BETWEEN 0 AND 9, TRUE)
            AND coalesce(p_on_duplicate IN ('ERROR', 'EXISTING'), TRUE)
            AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted')
            AND (
                SELECT m.migration_status FROM omd_dispatch.task_migration_status AS m
                WHERE m.family_code = %1$L
            ) >= 3
            AND NOT EXISTS (SELECT FROM omd.unready_for_id());
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        $sql$,
        p_family_code,
        CASE
            WHEN v_names IS NULL THEN 'INTO v_lane, v_group, v_is_unlimited, v_is_by_hand, v_is_guarded'
            ELSE format(
                $sql$,
                -- Of the criteria for which the type has a rule, it and its mode.
                ARRAY(
                    SELECT c.criterion || c.mode FROM omd_dispatch.task_conf_custom AS c
                    WHERE c.family_code = %1$L AND c.task_type = p_task_type
                ),
                (
                    SELECT jsonb_object_agg(d.external_name, d.criterion)
                    FROM omd_dispatch.task_conf_dict AS d
                    WHERE d.family_code = %1$L AND d.task_type = p_task_type
                )
                INTO v_lane, v_group, v_is_unlimited, v_is_by_hand, v_is_guarded, v_modes, v_names
                $sql$,
                p_family_code
            )
        END,
        CASE
            WHEN v_names IS NULL THEN 'AND coalesce(p_criteria IN (''{}'', ''null''), TRUE)'
            ELSE
                'AND coalesce(jsonb_typeof(p_criteria), ''null'') IN (''object'', ''null'')'
                ' AND coalesce(octet_length(p_criteria::text) < 1000, TRUE)'
        END
    );
    IF v_names IS NOT NULL THEN
        v_body := v_body || format(
            $sql$
            p_criteria := coalesce(nullif(p_criteria, 'null'), '{}');
            IF v_names IS NOT NULL THEN
                SELECT jsonb_object_agg(coalesce(v_names ->> g.key, g.key), g.value), count(*)
                INTO v_criteria, v_given
                FROM jsonb_each(p_criteria) AS g;
                -- Of two names of one criterion only one is left.
                IF v_given <> (SELECT count(*) FROM jsonb_object_keys(v_criteria)) THEN
                    RETURN NULL;
                END IF;
                p_criteria := coalesce(v_criteria, '{}');
            END IF;
            IF p_criteria - ARRAY[%1$s] <> '{}' OR (%2$s) THEN
                RETURN NULL;
            END IF;
            v_criteria := jsonb_strip_nulls(jsonb_build_object(%3$s));
            $sql$,
            v_names, v_mistakes, v_criteria
        );
    END IF;
    v_body := v_body || format(
        $sql$
        IF NOT v_is_unlimited THEN
            SELECT omd_dispatch._lane(t, v_criteria) INTO v_lane
            FROM omd_dispatch.task_conf_type_desc AS t
            WHERE t.family_code = %1$L AND t.task_type = p_task_type;
        END IF;
        $sql$,
        p_family_code
    );
    IF v_keys IS NOT NULL THEN
        v_body := v_body || format(
            $sql$
            v_task_id := nextval('omd_dispatch.task_id');
            IF NOT v_modes @> ARRAY[%3$s] THEN
                v_key_text := (jsonb_build_array(%1$L, p_task_type) %2$s)::text;
                v_key_hash := sha256(convert_to(v_key_text, 'UTF8'));
                INSERT INTO omd_dispatch.mutex (
                    key_hash, family_code, task_type, key_text, task_id
                )
                VALUES (v_key_hash, %1$L, p_task_type, v_key_text, v_task_id)
                ON CONFLICT (key_hash) DO NOTHING;
                IF NOT FOUND THEN
                    -- A holder that has just released the key is not found.
                    SELECT m.task_id INTO v_task_id
                    FROM omd_dispatch.mutex AS m
                    WHERE m.key_hash = v_key_hash;
                    IF FOUND AND p_on_duplicate IS DISTINCT FROM 'EXISTING' THEN
                        PERFORM omd.raise_error(
                            'OM170',
                            jsonb_build_object('task_id', v_task_id, 'key', v_key_text, 'task', 1)
                        );
                    END IF;
                    IF FOUND AND v_is_by_hand THEN
                        PERFORM omd_dispatch._note_created(%1$L, p_task_type, v_task_id, FALSE);
                    END IF;
                    RETURN ~v_task_id;
                END IF;
            END IF;
            $sql$,
            p_family_code, v_keys, v_without_key
        );
    END IF;
    v_body := v_body || format(
        $sql$
        INSERT INTO %1$s (
            task_id, partition_code, task_type, lane, priority, execution_time, status, attempt,
            suspension_id, created_at, key_hash, payload %2$s
        )
        VALUES (
            %3$s,
            omd_dispatch._partition_code(%4$L, %5$s, statement_timestamp()),
            p_task_type,
            v_lane,
            coalesce(p_priority, 5),
            coalesce(p_execution_time, clock_timestamp()),
            'PENDING',
            0,
            CASE
                WHEN v_is_guarded
                    THEN omd_dispatch._matching_suspension(%6$L, p_task_type, v_criteria)
            END,
            clock_timestamp(),
            v_key_hash,
            nullif(p_payload, 'null')
            %7$s
        )
        RETURNING task_id, partition_code, execution_time <= clock_timestamp()
        INTO v_task_id, v_partition_code, v_is_due;
        IF v_is_due THEN
            -- A worker that has nothing to do need not look elsewhere for it.
            IF v_is_unlimited AND NOT v_is_guarded THEN
                v_group := concat_ws(' ', v_group, %6$L, v_partition_code, v_task_id);
            END IF;
            -- A claim finds a new task that is due now; not one whose time is before those that
            -- it has met.
            IF p_execution_time IS NULL THEN
                PERFORM omd.notify('omd_dispatch', v_group);
            ELSE
                PERFORM omd_dispatch._tell_due(v_group);
            END IF;
        END IF;
        IF v_is_by_hand THEN
            PERFORM omd_dispatch._note_created(%6$L, p_task_type, v_task_id, TRUE);
        END IF;
        RETURN v_task_id;
        $sql$,
        omd_dispatch._data_table(p_family_code),
        v_columns,
        CASE WHEN v_keys IS NULL THEN 'nextval(''omd_dispatch.task_id'')' ELSE 'v_task_id' END,
        v_family.scheme_code,
        v_family.partition_count,
        p_family_code,
        v_values
    );
    IF v_may_fail THEN
        v_body := 'BEGIN ' || v_body || ' EXCEPTION WHEN data_exception THEN RETURN NULL; END;';
    END IF;
    RETURN format(
        $sql$
        #variable_conflict use_column
        DECLARE
            v_criteria jsonb := '{}'::jsonb;
            v_group text;
            v_lane text;
            v_is_unlimited boolean;
            v_is_by_hand boolean;
            v_is_guarded boolean;
            v_key_hash bytea;
            v_task_id bigint;
            v_partition_code integer;
            v_is_due boolean;
            %3$s
            %4$s
        BEGIN
            -- What else is to be done before an ID is given is rare, and left to _insert_tasks.
            IF current_setting('synchronous_commit') = 'off' THEN
                PERFORM omd.get_ready_for_id();
            END IF;
            LOCK TABLE omd_dispatch.%1$I IN ROW SHARE MODE;
            %2$s
        END
        $sql$,
        'task_model_' || lower(p_family_code),
        v_body,
        CASE
            WHEN v_names IS NOT NULL THEN 'v_modes text[]; v_names jsonb; v_given bigint;'
        END,
        CASE WHEN v_keys IS NOT NULL THEN 'v_key_text text;' END
    );
END
$create_one_sql$;

COMMENT ON FUNCTION omd_dispatch._create_one_sql IS
'Returns the body of the function that creates one task of p_family_code, in its new model. Its '
'parameters are those of create_task. It answers the number of the new task; of a live task that '
'has the key and is to be returned ~, the number below zero; NULL where _insert_tasks must be '
'called. Locks: none.';
