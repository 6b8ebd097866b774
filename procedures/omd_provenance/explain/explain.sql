-- The value, then what wrote it, then where that came from, then what it was before: each room says
-- its own part, and here they stand in one order. Business rows are read with the rights of the
-- caller, by the routines below that are no SECURITY DEFINER; what is known of runs, with those of
-- the owner.

CREATE OR REPLACE FUNCTION omd_provenance.explain(
    p_table_code text,
    p_key jsonb,
    p_column text,
    p_at timestamptz DEFAULT NULL
)
RETURNS TABLE (
    "position" integer, -- noqa: RF06
    step text,
    value text,
    valid_from timestamptz,
    valid_until timestamptz,
    module_instance_id bigint,
    delivery_id bigint,
    file text,
    line bigint,
    text text,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $explain$
DECLARE
    v_place record;
    v_row record;
    v_origin record;
    v_lvl record;
    v_runs bigint[];
    v_title text;
BEGIN
    p_table_code := omd.require_argument('p_table_code', p_table_code);
    p_key := omd.require_argument('p_key', p_key);
    p_column := omd.require_argument('p_column', p_column);
    v_place := omd_provenance._place(p_table_code, p_key, p_column, p_at);
    SELECT * INTO v_row
    FROM omd_provenance._versions(p_table_code, p_key, p_column, p_at) AS v
    WHERE v.is_it;
    IF v_place.place_kind = 'TABLE'
        AND p_at < omd_provenance._written_at(v_row.module_instance_id)
    THEN
        PERFORM omd.raise_error(
            'OM093',
            jsonb_build_object(
                'table_code', p_table_code,
                'problem', format('it keeps no former values, and this one came after %s', p_at),
                'way_out', 'Leave p_at out.'
            )
        );
    END IF;
    v_title := format(
        '%s of %s with %s', p_column, coalesce(v_place.entity_code, v_place.relation),
        (
            SELECT string_agg(k.key || ' ' || coalesce(k.value, 'empty'), ', ')
            FROM jsonb_each_text(v_row.key) AS k
        )
    );
    SELECT d.delivery_id, d.load_kind INTO v_origin
    FROM omd_provenance._deliveries_of(ARRAY[v_row.module_instance_id]) AS d;
    position := 1;
    step := 'VALUE';
    value := CASE WHEN v_row.record_ind IS DISTINCT FROM 'R' THEN v_row.value END;
    valid_from := v_row.valid_from;
    valid_until := v_row.valid_until;
    module_instance_id := v_row.module_instance_id;
    delivery_id := v_origin.delivery_id;
    text := concat(
        CASE
            WHEN v_row.record_ind = 'R' THEN format('%s is not there: the row is deleted', v_title)
            WHEN value IS NULL THEN format('%s is empty', v_title)
            ELSE format('%s is %s', v_title, value)
        END,
        ', from ' || v_row.valid_from,
        ' until ' || nullif(v_row.valid_until, timestamptz '9999-12-31 00:00:00+00'),
        '.'
    );
    detail := jsonb_build_object(
        'table_code', v_place.relation, 'column', p_column, 'key', v_row.key, 'at', p_at
    );
    RETURN NEXT;

    position := position + 1;
    step := 'ROW';
    text := CASE v_place.place_kind
        WHEN 'FACTS'
            THEN format(
                'It is in the context %s of %s, with T %s.', v_place.context_code,
                v_place.entity_code, v_row.valid_from
            )
        WHEN 'LVL'
            THEN format(
                'It is in the Logical Validation Layer, in %s, with T %s.', v_place.relation,
                v_row.valid_from
            )
        ELSE format('It is in a row of %s.', v_place.relation)
    END;
    detail := jsonb_build_object(
        'table_code', v_place.relation, 'context', v_place.context_code,
        'record_ind', v_row.record_ind, 'record', v_row.record
    );
    RETURN NEXT;
    valid_from := NULL;
    valid_until := NULL;

    FOR step, module_instance_id, delivery_id, text, detail IN
        SELECT r.step, r.module_instance_id, r.delivery_id, r.text, r.detail
        FROM omd_provenance._run_steps(v_row.module_instance_id) AS r
    LOOP
        position := position + 1;
        value := NULL;
        IF v_place.place_kind = 'TABLE' AND step = 'SOURCE' THEN
            v_runs := v_runs || module_instance_id;
        END IF;
        RETURN NEXT;
    END LOOP;

    IF v_place.place_kind = 'TABLE' THEN
        module_instance_id := v_row.module_instance_id;
        delivery_id := NULL;
        FOR step, value, text, detail IN
            SELECT d.* FROM omd_provenance._decision_steps(
                v_row.module_instance_id, v_row.record
            ) AS d
        LOOP
            position := position + 1;
            RETURN NEXT;
        END LOOP;
        step := 'INPUT';
        FOR value, module_instance_id, delivery_id, text, detail IN
            SELECT i.value, i.module_instance_id, d.delivery_id, i.text, i.detail
            FROM omd_provenance._input_steps(v_row.module_instance_id, v_row.record) AS i
            LEFT JOIN LATERAL omd_provenance._deliveries_of(ARRAY[i.module_instance_id]) AS d
                ON TRUE
        LOOP
            position := position + 1;
            RETURN NEXT;
        END LOOP;
    ELSE
        v_runs := ARRAY[v_row.module_instance_id];
    END IF;

    -- The version of the Logical Validation Layer that a load has read knows file and line; of what
    -- a resynchronization took over it alone knows the delivery.
    v_lvl := v_row;
    IF v_place.place_kind = 'FACTS' AND v_origin.load_kind IN ('LOAD', 'RESYNC') THEN
        BEGIN
            SELECT v.*, d.delivery_id INTO v_lvl
            FROM omd_provenance._versions(
                format('%I.%I', 'lvl_' || v_place.interface_code, v_place.entity_code),
                v_row.key, NULL, v_row.valid_from
            ) AS v
            LEFT JOIN LATERAL omd_provenance._deliveries_of(ARRAY[v.module_instance_id]) AS d
                ON TRUE
            WHERE v.is_it;
            IF v_origin.load_kind = 'RESYNC' THEN
                v_runs := ARRAY[v_lvl.module_instance_id];
            ELSIF v_lvl.delivery_id IS DISTINCT FROM v_origin.delivery_id THEN
                v_lvl := v_row;
            END IF;
        EXCEPTION
            WHEN SQLSTATE 'OM093' OR insufficient_privilege THEN
                v_lvl := v_row;
        END;
    END IF;
    FOR step, value, delivery_id, file, line, text, detail IN
        SELECT d.* FROM omd_provenance._delivery_steps(
            v_runs, v_place.entity_code,
            CASE WHEN v_place.place_kind <> 'TABLE' THEN v_row.key END,
            p_column, v_lvl.file_no, v_lvl.line
        ) AS d
    LOOP
        position := position + 1;
        module_instance_id := NULL;
        RETURN NEXT;
    END LOOP;
    file := NULL;
    line := NULL;

    IF v_place.place_kind <> 'TABLE' THEN
        step := 'HISTORY';
        FOR value, valid_from, valid_until, module_instance_id, delivery_id, text, detail IN
            SELECT
                CASE WHEN v.record_ind <> 'R' THEN v.value END,
                v.valid_from, v.valid_until, v.module_instance_id, d.delivery_id,
                concat(
                    'From ', v.valid_from,
                    ' until ' || nullif(v.valid_until, timestamptz '9999-12-31 00:00:00+00'),
                    CASE
                        WHEN v.record_ind = 'R' THEN ' it was not there: the row was deleted'
                        WHEN v.value IS NULL THEN ' it was empty'
                        ELSE ' it was ' || v.value
                    END,
                    ', by delivery ' || d.delivery_id, '.'
                ),
                jsonb_build_object(
                    'record_ind', v.record_ind, 'load_kind', d.load_kind,
                    'is_changed', lag(v.value) OVER w IS DISTINCT FROM v.value
                        OR lag(v.record_ind) OVER w = 'R'
                        OR v.record_ind = 'R'
                        OR row_number() OVER w = 1
                )
            FROM omd_provenance._versions(p_table_code, v_row.key, p_column, p_at) AS v
            LEFT JOIN LATERAL omd_provenance._deliveries_of(ARRAY[v.module_instance_id]) AS d
                ON TRUE
            WINDOW w AS (ORDER BY v.valid_from)
            ORDER BY v.valid_from
        LOOP
            position := position + 1;
            RETURN NEXT;
        END LOOP;
    END IF;
END
$explain$;

COMMENT ON FUNCTION omd_provenance.explain IS
'Returns where the value of a cell comes from, a row per step, in words and as data. The steps '
'that apply, in this order: VALUE and ROW, the value (as text) and what holds it; RUN and SOURCE, '
'who wrote it, and what that has read, nearest first; DECISION, RULE and INPUT, of a stage; '
'DELIVERY, FILE and VERDICT, what it came with, and what it violated; HISTORY, the value on any '
'day. A row that is deleted has no value. Of the runs read the 50 nearest are shown, of deliveries '
'and of files the first 20. Rows are read with the rights of the caller. p_table_code: an offered '
'view of facts, a table of the Logical Validation Layer, or a target of a Module in this database. '
'p_key: an object of columns and values that finds exactly one row. p_column: the column. p_at: as '
'of when; NULL: now. Errors: OM005: an argument is NULL; OM093: the key does not find exactly one '
'row, or the table can''t be explained. Locks: ACCESS SHARE on the tables. May be NULL: value, '
'valid_from, valid_until, module_instance_id, delivery_id, file, line.';
GRANT EXECUTE ON FUNCTION omd_provenance.explain TO omd_data_reader;
