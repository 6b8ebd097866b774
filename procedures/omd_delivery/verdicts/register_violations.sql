-- Counts meet thresholds only in stage_verdict, when all of them are there.

CREATE OR REPLACE PROCEDURE omd_delivery.register_violations(
    p_delivery_id bigint,
    p_attempt integer,
    p_stage integer,
    p_entity_code text,
    p_measures jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_violations$
DECLARE
    v_delivery omd_delivery.delivery;
    v_result omd_delivery.entity_result;
    v_counts text[];
    v_problem text;
BEGIN
    p_stage := omd.require_argument('p_stage', p_stage);
    p_entity_code := omd.require_argument('p_entity_code', p_entity_code);
    p_measures := omd.require_argument('p_measures', p_measures);
    v_delivery := omd_delivery._hold_attempt(p_delivery_id, p_attempt);
    PERFORM omd_delivery._require_open_stage(v_delivery, p_stage, 'be measured');
    SELECT r.* INTO v_result
    FROM omd_delivery.entity_result AS r
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE r.delivery_id = p_delivery_id
        AND r.attempt = p_attempt
        AND r.stage = p_stage
        AND e.entity_code = p_entity_code;
    IF NOT FOUND THEN
        PERFORM omd_delivery._raise_measures(
            p_delivery_id, p_entity_code, 'the plan of the stage does not have the entity'
        );
    END IF;

    v_counts := ARRAY['rows_delivered', 'rows_skipped'] || CASE
        WHEN p_stage = 2 THEN ARRAY['rows_implicit_deletes', 'rows_in_scope'] ELSE '{}'
    END;
    v_problem := CASE
        WHEN jsonb_typeof(p_measures) <> 'object' THEN 'they must be an object'
        WHEN p_measures - v_counts - ARRAY['violations', 'findings'] <> '{}'
            THEN format('%s is unknown', p_measures - v_counts - ARRAY['violations', 'findings'])
        WHEN jsonb_typeof(coalesce(p_measures -> 'violations', '{}')) <> 'object'
            THEN 'violations must be an object'
        WHEN jsonb_typeof(coalesce(p_measures -> 'findings', '{}')) <> 'object'
            THEN 'findings must be an object'
    END;
    IF v_problem IS NULL THEN
        SELECT format('%s must be a number of rows', c.name) INTO v_problem
        FROM unnest(v_counts) AS c (name)
        WHERE NOT CASE
            WHEN p_measures ? c.name THEN omd.is_count(p_measures -> c.name)
            WHEN c.name LIKE 'rows_i%' THEN v_result.load_type IS DISTINCT FROM 'FULL'
            ELSE v_result.load_type IS NULL
        END
        LIMIT 1;
    END IF;
    IF v_problem IS NULL
        AND coalesce((p_measures -> 'rows_skipped')::bigint, 0)
        > coalesce((p_measures -> 'rows_delivered')::bigint, 0)
    THEN
        v_problem := format(
            'rows_skipped (%s) must not be more than rows_delivered (%s)',
            p_measures -> 'rows_skipped', coalesce(p_measures -> 'rows_delivered', '0')
        );
    END IF;
    IF v_problem IS NULL THEN
        SELECT format('the finding %s must have a number of rows', f.key) INTO v_problem
        FROM jsonb_each(p_measures -> 'findings') AS f
        WHERE NOT omd.is_count(f.value)
        LIMIT 1;
    END IF;
    IF v_problem IS NULL THEN
        SELECT
            CASE
                WHEN v.key IS NULL THEN 'it lacks the constraint ' || c.constraint_code
                WHEN c.constraint_code IS NULL
                    THEN 'the plan does not have the constraint ' || v.key
                ELSE format('%s must have rows, and may have existing', v.key)
            END
        INTO v_problem
        FROM (
            SELECT m.constraint_code
            FROM omd_delivery.constraint_result AS k
            INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
            WHERE k.delivery_id = p_delivery_id
                AND k.attempt = p_attempt
                AND k.stage = p_stage
                AND m.entity_id = v_result.entity_id
                AND m.constraint_type <> 'deletes'
        ) AS c
        FULL JOIN jsonb_each(coalesce(p_measures -> 'violations', '{}')) AS v
            ON c.constraint_code = v.key
        WHERE c.constraint_code IS NULL
            OR v.key IS NULL
            OR jsonb_typeof(v.value) <> 'object'
            OR v.value - ARRAY['rows', 'existing'] <> '{}'
            OR NOT omd.is_count(v.value -> 'rows')
            OR NOT omd.is_count(coalesce(v.value -> 'existing', '0'))
        ORDER BY coalesce(c.constraint_code, v.key) COLLATE "C"
        LIMIT 1;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd_delivery._raise_measures(p_delivery_id, p_entity_code, v_problem);
    END IF;

    UPDATE omd_delivery.entity_result AS r SET
        rows_delivered = coalesce((p_measures ->> 'rows_delivered')::bigint, 0),
        rows_skipped = coalesce((p_measures ->> 'rows_skipped')::bigint, 0),
        rows_implicit_deletes = CASE
            WHEN p_stage = 2 THEN coalesce((p_measures ->> 'rows_implicit_deletes')::bigint, 0)
        END,
        rows_in_scope = CASE
            WHEN p_stage = 2 THEN coalesce((p_measures ->> 'rows_in_scope')::bigint, 0)
        END,
        findings = coalesce(p_measures -> 'findings', '{}'),
        measured_datetime = clock_timestamp()
    WHERE r.delivery_id = p_delivery_id
        AND r.attempt = p_attempt
        AND r.stage = p_stage
        AND r.entity_id = v_result.entity_id;
    UPDATE omd_delivery.constraint_result AS k SET
        existing = coalesce((v.value ->> 'existing')::bigint, 0),
        violations = (v.value ->> 'rows')::bigint
        + coalesce((v.value ->> 'existing')::bigint, 0)
    FROM jsonb_each(coalesce(p_measures -> 'violations', '{}')) AS v
    INNER JOIN omd_delivery.model_constraint AS m ON v.key = m.constraint_code
    WHERE k.delivery_id = p_delivery_id
        AND k.attempt = p_attempt
        AND k.constraint_id = m.constraint_id
        AND m.entity_id = v_result.entity_id;
END
$register_violations$;

COMMENT ON PROCEDURE omd_delivery.register_violations IS
'For programs: '
'Registers what the run p_attempt of the delivery p_delivery_id counted in the stage p_stage for '
'the entity p_entity_code. p_measures: {"rows_delivered", "rows_skipped" (in this stage and '
'before), "violations": {constraint: {"rows" (delivered ones), "existing"}}, "findings": '
'{finding: rows}}, in stage 2 also "rows_implicit_deletes" and "rows_in_scope". Called again, it '
'replaces the counts. Errors: OM005: an argument is NULL; OM014: the isolation level is not read '
'committed; OM034: there is no such delivery; OM036: p_stage is not 1 or 2; OM040: the counts do '
'not fit the plan: every constraint of it except deletes, no other, no negative count, no more '
'rows skipped than delivered; OM130: the delivery is in another status than LOADED, the stage has '
'its verdict, or the one before has not; OM132: p_attempt is not its newest run, or has ended. '
'Locks: the interface. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.register_violations TO omd_runner;
