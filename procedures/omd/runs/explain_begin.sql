-- The function calls the very routines that a begin calls, so its answer can't differ. An instance
-- is created and evaluated inside a block that always ends with an error. The error undoes
-- everything, notifications and locks too, and only the variables stay. The instance gets an id at
-- the end of all ids, one per session, so that no id is used up and each executing instance came
-- before it.

CREATE OR REPLACE FUNCTION omd.explain_begin(
    p_module_code text DEFAULT NULL,
    p_batch_code text DEFAULT NULL,
    p_batch_instance_id bigint DEFAULT NULL
)
RETURNS TABLE (
    processing_indicator text,
    reason text,
    rule text,
    instance_array bigint[],
    details jsonb
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $explain_begin$
DECLARE
    v_id CONSTANT bigint := 9223372036854775807 - pg_backend_pid();
    v_now CONSTANT timestamptz := clock_timestamp();
    v_kind text := 'Module';
    v_definition_id integer;
    v_platform_code text;
    v_executing bigint[];
    v_dead bigint[];
    v_is_answered boolean := FALSE;
    v_sqlstate text;
    v_message text;
    v_detail text;
BEGIN
    IF num_nonnulls(p_module_code, p_batch_code) = 0 THEN
        PERFORM omd.raise_error(
            'OM005', jsonb_build_object('argument', 'p_module_code or p_batch_code')
        );
    ELSIF num_nonnulls(p_module_code, p_batch_code) = 2 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_module_code, p_batch_code',
                'value', concat_ws(', ', p_module_code, p_batch_code),
                'expected', 'only one of the two'
            )
        );
    ELSIF p_batch_code IS NOT NULL THEN
        v_kind := 'Batch';
        v_definition_id := omd._require_batch(p_batch_code);
    ELSE
        v_definition_id := omd._require_module(p_module_code);
    END IF;
    IF p_batch_instance_id <> 0 THEN
        PERFORM omd._require_batch_instance(p_batch_instance_id);
    END IF;
    PERFORM omd.require_read_committed();

    IF pg_is_in_recovery() THEN
        SELECT f.p_processing_indicator, f.p_reason, f.p_instance_array, f.p_dead
        INTO processing_indicator, reason, instance_array, v_dead
        FROM omd._foresee_begin(v_kind, v_definition_id, coalesce(p_batch_instance_id, 0)) AS f;
        v_is_answered := TRUE;
    ELSE
        BEGIN
            -- The end of the block releases it with everything else.
            PERFORM set_config('lock_timeout', '1s', TRUE);
            IF v_kind = 'Batch' THEN
                -- Of all failures of the Batch only these may be new.
                v_executing := ARRAY(
                    SELECT bi.batch_instance_id
                    FROM omd.batch_instance AS bi
                    WHERE bi.batch_id = v_definition_id AND bi.execution_status_code = 'E'
                );
                INSERT INTO omd.batch_instance (
                    batch_instance_id, batch_id, parent_batch_instance_id, start_datetime,
                    execution_status_code, processing_indicator, next_run_indicator
                )
                OVERRIDING SYSTEM VALUE
                VALUES (v_id, v_definition_id, coalesce(p_batch_instance_id, 0), v_now, 'E', 'A', 'P');
                CALL omd.evaluate_batch(v_id, processing_indicator, reason);
                v_dead := ARRAY(
                    SELECT bi.batch_instance_id
                    FROM omd.batch_instance AS bi
                    WHERE bi.batch_instance_id = ANY(v_executing)
                        AND bi.execution_status_code = 'F'
                        AND bi.end_datetime >= v_now
                );
            ELSE
                INSERT INTO omd.module_instance (
                    module_instance_id, module_id, batch_instance_id, start_datetime,
                    execution_status_code, processing_indicator, next_run_indicator
                )
                OVERRIDING SYSTEM VALUE
                VALUES (v_id, v_definition_id, coalesce(p_batch_instance_id, 0), v_now, 'E', 'A', 'P');
                SELECT a.p_processing_indicator, a.p_instance_array, a.p_reason, a.p_platform_code
                INTO processing_indicator, instance_array, reason, v_platform_code
                FROM omd._answer_module(v_id) AS a;
                IF processing_indicator = 'R' THEN
                    -- A begin also builds the rollback. Where the target is in this database the
                    -- evaluation executes it, and the answer is P.
                    PERFORM omd.rollback_steps(v_id);
                    processing_indicator := CASE v_platform_code WHEN 'POSTGRES' THEN 'P' ELSE 'R' END;
                END IF;
                v_dead := ARRAY(
                    SELECT mi.module_instance_id
                    FROM omd.module_instance AS mi
                    WHERE mi.module_id = v_definition_id
                        AND mi.module_instance_id = ANY(instance_array)
                        AND mi.end_datetime >= v_now
                );
            END IF;
            v_is_answered := TRUE;
            RAISE EXCEPTION USING ERRCODE = 'transaction_rollback', MESSAGE = 'nothing may change';
        EXCEPTION
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS
                    v_sqlstate = RETURNED_SQLSTATE,
                    v_message = MESSAGE_TEXT,
                    v_detail = PG_EXCEPTION_DETAIL;
                IF NOT v_is_answered AND v_sqlstate !~ '^(OM[0-2]|55P03$|40P01$)' THEN
                    RAISE;
                END IF;
        END;
    END IF;

    IF NOT v_is_answered THEN
        processing_indicator := NULL;
        reason := NULL;
        instance_array := NULL;
        IF v_sqlstate ~ '^OM' THEN
            rule := format('A begin would fail with %s: %s.', v_sqlstate, v_message);
            details := v_detail::jsonb;
        ELSE
            rule := format(
                'A begin would wait: another session begins or ends a run of this %s, or of what '
                'calls it, and has not committed yet.',
                v_kind
            );
            details := '{}';
        END IF;
        RETURN NEXT;
        RETURN;
    END IF;

    -- The descriptions of the reference tables are the words of the rule.
    rule := coalesce(
        (SELECT r.reason_description FROM omd.reason AS r WHERE r.reason_code = reason),
        (
            SELECT i.processing_indicator_description
            FROM omd.processing_indicator AS i
            WHERE i.processing_indicator = CASE
                WHEN instance_array <> '{}' THEN 'R' ELSE explain_begin.processing_indicator
            END
        )
    );
    details := omd._explain_reason(v_kind, v_definition_id, p_batch_instance_id, reason)
        || CASE
            WHEN v_dead <> '{}' THEN jsonb_build_object('declared_dead', v_dead) ELSE '{}'
        END;
    RETURN NEXT;
END
$explain_begin$;

COMMENT ON FUNCTION omd.explain_begin IS
'Returns what a begin would answer now, and by which rule; it changes nothing. p_module_code, '
'p_batch_code: exactly one of the two. p_batch_instance_id: the Batch Instance that would call '
'(of a Batch, its parent), NULL or 0 for none. It returns processing_indicator (P, A, C or R), '
'reason, rule (the reason in words), instance_array (what would be rolled back) and details: what '
'executes and since when (RUNNING), the last run and its frequency (FREQUENCY), the marked '
'instances (DIRECTIVE, ALREADY_SUCCEEDED), and declared_dead (runs that a begin would declare '
'dead first). processing_indicator is NULL when a begin would fail, or would wait for another '
'session; rule says which. The rollback itself and p_force are not tried, and on a standby '
'nothing is: there the answer is foreseen from what is there. May be NULL: '
'processing_indicator, reason, instance_array. Errors: OM001, OM002, OM003, OM005, OM013, OM014. '
'Locks: those of a begin, for at most a second each; they are released before it returns.';
GRANT EXECUTE ON FUNCTION omd.explain_begin TO omd_reader;
