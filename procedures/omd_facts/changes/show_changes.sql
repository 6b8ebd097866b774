-- A plan is kept for a session, and one for a few keys costs 60 times when there are many: so plans
-- are discarded where the number of keys has another length than that of the block before.

CREATE OR REPLACE PROCEDURE omd_facts.show_changes(
    p_interface_code text,
    p_after bigint,
    p_upto bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $show_changes$
DECLARE
    v_interface omd_facts.interface := omd_facts._require_interface(p_interface_code);
    v_after CONSTANT bigint := coalesce(p_after, 0);
    v_never CONSTANT bigint := 9223372036854775807;
    v_upto bigint;
    v_newest bigint;
    v_keys jsonb;
    v_marks jsonb;
    v_size text;
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface.interface_id AND e.keeps_changes
    ) THEN
        PERFORM omd.raise_error(
            'OM254',
            jsonb_build_object('interface_code', p_interface_code, 'object', 'no entity')
        );
    END IF;
    SELECT coalesce(max(c.change_id), 0) INTO v_newest
    FROM omd_facts.change AS c
    WHERE c.interface_id = v_interface.interface_id;
    v_upto := coalesce(p_upto, v_newest);
    IF v_after < 0 OR v_after > v_upto OR v_upto > v_newest THEN
        PERFORM omd.raise_error(
            'OM036',
            jsonb_build_object(
                'argument', CASE WHEN v_upto > v_newest THEN 'p_upto' ELSE 'p_after' END,
                'value', CASE WHEN v_upto > v_newest THEN v_upto ELSE v_after END,
                'problem', CASE
                    WHEN v_upto > v_newest THEN format('the newest change is %s', v_newest)
                    ELSE format('it lies between 0 and p_upto, %s', v_upto)
                END
            )
        );
    ELSIF v_after > 0 AND v_after < v_interface.purged_change_id THEN
        PERFORM omd.raise_error(
            'OM158',
            jsonb_build_object(
                'interface_code', p_interface_code,
                'after', v_after,
                'purged', v_interface.purged_change_id
            )
        );
    END IF;
    -- The mark of an entity at the end of the block lies before all that was loaded after it.
    SELECT
        jsonb_object_agg(e.entity_id, n.key_count),
        jsonb_object_agg(e.entity_id, coalesce(l.mark, k.mark_datetime, '-infinity'))
    INTO v_keys, v_marks
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.context AS x
        ON e.entity_id = x.entity_id
            AND (e.entity_kind = 'CONTEXT' OR x.context_code = 'properties')
    LEFT JOIN omd_facts.entity_mark AS k ON e.entity_id = k.entity_id
    LEFT JOIN LATERAL (
        SELECT c.transaction_datetime - interval '1 microsecond' AS mark
        FROM omd_facts.change AS c
        WHERE c.interface_id = v_interface.interface_id
            AND c.change_id > v_upto
            AND c.undone_by_change_id IS NULL
            AND c.transaction_datetime IS NOT NULL
            AND e.entity_id = ANY(c.entity_ids)
        ORDER BY c.change_id
        LIMIT 1
    ) AS l ON TRUE
    LEFT JOIN LATERAL (
        SELECT
            CASE
                WHEN v_after > 0
                    THEN (
                        SELECT coalesce(sum((c.key_counts ->> e.entity_id::text)::bigint), 0)
                        FROM omd_facts.change AS c
                        WHERE c.interface_id = v_interface.interface_id
                            AND c.change_id > v_after
                            AND c.change_id <= v_upto
                    )
                ELSE (
                    SELECT greatest(t.reltuples, 0)::bigint
                    FROM pg_class AS t
                    WHERE t.oid = to_regclass(
                        format('%I.%I', 'cfl_' || p_interface_code, x.context_table || '_now')
                    )
                )
            END AS key_count
    ) AS n ON TRUE
    WHERE e.interface_id = v_interface.interface_id;
    PERFORM set_config('omd_facts.' || b.name || '_' || p_interface_code, b.value, TRUE)
    FROM (
        VALUES
        ('block', jsonb_build_object('keys', v_keys, 'marks', v_marks)::text),
        ('upto', v_upto::text),
        ('undone', v_after::text),
        ('after', coalesce(nullif(v_after, 0), v_never)::text),
        ('first', CASE v_after WHEN 0 THEN -1 ELSE v_never END::text),
        ('all', CASE v_after WHEN 0 THEN v_upto ELSE 0 END::text)
    ) AS b (name, value);
    -- A large block is joined as much as what makes indexes, as a load is.
    PERFORM set_config('work_mem', current_setting('maintenance_work_mem'), TRUE)
    FROM (SELECT max(k.value::bigint) AS key_count FROM jsonb_each_text(v_keys) AS k) AS n
    WHERE n.key_count > 50000
        AND pg_size_bytes(current_setting('work_mem'))
        < pg_size_bytes(current_setting('maintenance_work_mem'));
    SELECT string_agg(length(k.value)::text, ',' ORDER BY k.key) INTO v_size
    FROM jsonb_each_text(v_keys) AS k;
    IF v_size IS DISTINCT FROM current_setting('omd_facts.size_' || p_interface_code, TRUE) THEN
        PERFORM set_config('omd_facts.size_' || p_interface_code, v_size, FALSE);
        DISCARD PLANS;
    END IF;
END
$show_changes$;

COMMENT ON PROCEDURE omd_facts.show_changes IS
'For programs: '
'Shows a block of changes of the interface p_interface_code until the transaction ends: the views '
'changes_<interface> have the keys that it touched, and the views asof_<interface> are as of its '
'end. p_after: the change that it begins after; 0 or NULL: it begins at the beginning, and has '
'what exists at its end. p_upto: the change that it ends at; NULL: the newest. Outside of a '
'transaction block it ends at once. One of more than 50,000 keys raises work_mem to '
'maintenance_work_mem as long. Errors: OM005; OM013; OM031; OM036: there is no such block; OM158: '
'the keys that it needs are purged; OM251; OM254: no entity keeps changes. Locks: none. Call again '
'when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_facts.show_changes TO omd_data_reader, omd_runner;
