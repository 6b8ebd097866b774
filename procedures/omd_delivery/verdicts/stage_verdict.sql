-- All counts are logged before anything is compared, so a refused delivery shows everything that
-- is wrong with it. The verdict is on the whole delivery.

CREATE OR REPLACE PROCEDURE omd_delivery.stage_verdict(
    p_delivery_id bigint,
    p_attempt integer,
    p_stage integer,
    INOUT p_verdict text DEFAULT NULL,
    INOUT p_delivery_status text DEFAULT NULL,
    INOUT p_reasons jsonb DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stage_verdict$
DECLARE
    v_delivery omd_delivery.delivery;
    v_missing text;
BEGIN
    p_stage := omd.require_argument('p_stage', p_stage);
    v_delivery := omd_delivery._hold_attempt(p_delivery_id, p_attempt);
    SELECT s.verdict, s.delivery_status, s.reasons
    INTO p_verdict, p_delivery_status, p_reasons
    FROM omd_delivery.stage_result AS s
    WHERE s.delivery_id = p_delivery_id AND s.attempt = p_attempt AND s.stage = p_stage;
    IF FOUND THEN
        p_execution_status_code := omd_delivery._execution_status(p_delivery_status, p_verdict);
        RETURN;
    END IF;
    PERFORM omd_delivery._require_open_stage(v_delivery, p_stage, 'be judged');
    SELECT string_agg(e.entity_code, ', ' ORDER BY e.ordinal) INTO v_missing
    FROM omd_delivery.entity_result AS r
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    WHERE r.delivery_id = p_delivery_id
        AND r.attempt = p_attempt
        AND r.stage = p_stage
        AND r.measured_datetime IS NULL;
    IF v_missing IS NOT NULL THEN
        PERFORM omd_delivery._raise_measures(
            p_delivery_id, v_missing, 'measures are missing'
        );
    END IF;

    UPDATE omd_delivery.constraint_result AS k SET
        level = CASE
            WHEN l.is_exceeded THEN 'REJECT'
            WHEN omd_delivery._exceeds(l.violations, l.base, k.warn, k.warn_percent) THEN 'WARN'
            WHEN l.violations > 0 AND l.constraint_type <> 'deletes' THEN 'FINDING'
            ELSE 'NONE'
        END,
        violations = CASE
            WHEN l.constraint_type = 'deletes' AND NOT l.is_exceeded THEN 0 ELSE l.violations
        END,
        existing = coalesce(k.existing, 0)
    FROM (
        SELECT
            c.constraint_id,
            m.constraint_type,
            x.violations,
            x.base,
            omd_delivery._exceeds(x.violations, x.base, c.threshold, c.threshold_percent)
            AND (NOT c.holds_when_empty OR r.rows_delivered = 0) AS is_exceeded
        FROM omd_delivery.constraint_result AS c
        INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
        INNER JOIN omd_delivery.entity_result AS r
            ON c.delivery_id = r.delivery_id
                AND c.attempt = r.attempt
                AND c.stage = r.stage
                AND m.entity_id = r.entity_id
        CROSS JOIN LATERAL (
            SELECT
                CASE m.constraint_type
                    WHEN 'deletes' THEN r.rows_implicit_deletes ELSE c.violations
                END AS violations,
                CASE m.constraint_type
                    WHEN 'deletes' THEN r.rows_in_scope ELSE r.rows_delivered
                END AS base
        ) AS x
        WHERE c.delivery_id = p_delivery_id AND c.attempt = p_attempt AND c.stage = p_stage
    ) AS l
    WHERE k.delivery_id = p_delivery_id
        AND k.attempt = p_attempt
        AND k.constraint_id = l.constraint_id;

    SELECT
        coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'entity', e.entity_code,
                    'constraint', m.constraint_code,
                    'violations', c.violations,
                    'existing', c.existing,
                    'threshold', c.threshold,
                    'threshold_percent', c.threshold_percent,
                    'rows_delivered', r.rows_delivered
                )
                ORDER BY e.ordinal, m.ordinal, m.constraint_id
            ),
            '[]'
        )
    INTO p_reasons
    FROM omd_delivery.constraint_result AS c
    INNER JOIN omd_delivery.model_constraint AS m USING (constraint_id)
    INNER JOIN omd_delivery.entity AS e USING (entity_id)
    INNER JOIN omd_delivery.entity_result AS r
        ON c.delivery_id = r.delivery_id
            AND c.attempt = r.attempt
            AND c.stage = r.stage
            AND e.entity_id = r.entity_id
    WHERE c.delivery_id = p_delivery_id
        AND c.attempt = p_attempt
        AND c.stage = p_stage
        AND c.level = 'REJECT';

    p_verdict := CASE
        WHEN p_reasons <> '[]' THEN 'REJECTED'
        WHEN p_stage = 2 AND EXISTS (
            SELECT FROM omd_delivery.constraint_result AS c
            WHERE c.delivery_id = p_delivery_id AND c.attempt = p_attempt AND c.level <> 'NONE'
        ) THEN 'ACCEPTED WITH FINDINGS'
        WHEN p_stage = 2 AND EXISTS (
            SELECT FROM omd_delivery.entity_result AS r
            CROSS JOIN LATERAL jsonb_each(r.findings) AS f
            WHERE r.delivery_id = p_delivery_id AND r.attempt = p_attempt AND f.value <> '0'
        ) THEN 'ACCEPTED WITH FINDINGS'
        WHEN p_stage = 2 THEN 'ACCEPTED'
    END;
    p_delivery_status := CASE
        WHEN p_verdict IS NULL THEN 'LOADED'
        WHEN v_delivery.is_dry_run THEN 'CHECKED'
        WHEN p_verdict = 'REJECTED' THEN 'REFUSED'
        ELSE 'VALIDATED'
    END;
    p_execution_status_code := omd_delivery._execution_status(p_delivery_status, p_verdict);
    INSERT INTO omd_delivery.stage_result (
        delivery_id, attempt, stage, verdict, delivery_status, reasons
    )
    VALUES (p_delivery_id, p_attempt, p_stage, p_verdict, p_delivery_status, p_reasons);
    IF p_verdict IS NULL THEN
        RETURN;
    END IF;
    -- What a session writes at this moment is committed then, and deleted below.
    PERFORM FROM omd_delivery.delivery AS d WHERE d.delivery_id = p_delivery_id FOR UPDATE;
    UPDATE omd_delivery.delivery AS d SET
        verdict = p_verdict,
        reasons = p_reasons,
        is_running = p_delivery_status = 'VALIDATED'
    WHERE d.delivery_id = p_delivery_id;
    PERFORM omd_delivery._move(p_delivery_id, p_delivery_status, 'stage_verdict', p_verdict);
    IF p_delivery_status = 'VALIDATED' THEN
        RETURN;
    END IF;
    PERFORM omd_delivery._delete_delta(de.entity_id, p_delivery_id)
    FROM omd_delivery.delivery_entity AS de
    WHERE de.delivery_id = p_delivery_id;
    IF p_verdict = 'REJECTED' THEN
        PERFORM omd.abort_run(v_delivery.batch_instance_id, 'REJECTED');
    ELSE
        PERFORM omd_delivery._succeed_run(p_delivery_id);
    END IF;
END
$stage_verdict$;

COMMENT ON PROCEDURE omd_delivery.stage_verdict IS
'For programs: '
'Compares the counts of the stage p_stage of the run p_attempt of the delivery p_delivery_id with '
'their thresholds. Returns p_verdict: NULL, stage 1 was passed; ACCEPTED or ACCEPTED WITH FINDINGS '
'after stage 2; REJECTED, a threshold is exceeded, and p_reasons lists {entity, constraint, '
'violations, …}. p_delivery_status: LOADED, VALIDATED, REFUSED, or CHECKED for a dry run. '
'p_execution_status_code: E, the delivery goes on; F, it is rejected; S, a dry run is accepted. '
'What is refused or checked has ended; its instances that were rejected end with A and the reason '
'REJECTED. A second call answers the same. Errors: OM005: an argument is NULL; OM014: the '
'isolation level is not read committed; OM034: there is no such delivery; OM036: p_stage is not 1 '
'or 2; OM040: measures are missing; OM101: an instance was ended meanwhile; OM130: the delivery is '
'in another status than LOADED, or stage 1 was not passed; OM132: p_attempt is not its newest run, '
'or has ended. Locks: the interface, the delivery, the instances of a run that ends. Call again '
'when the answer was lost. May be NULL: p_verdict.';
GRANT EXECUTE ON PROCEDURE omd_delivery.stage_verdict TO omd_runner;
