-- On a standby nothing can be tried, so the answer of a begin is foreseen from what is there: rules
-- P4 and P5 without what they change, in the order of _decide_batch and _decide_module. Where
-- something may be written, explain_begin calls these themselves; a test compares both.

CREATE OR REPLACE FUNCTION omd._foresee_begin(
    p_kind text,
    p_definition_id integer,
    p_batch_instance_id bigint,
    OUT p_processing_indicator text,
    OUT p_reason text,
    OUT p_instance_array bigint[],
    OUT p_dead bigint[]
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $foresee_begin$
DECLARE
    v_module omd.module;
    v_batch omd.batch;
    v_caller omd.batch_instance;
    v_is_registered boolean := TRUE;
    v_is_inactive boolean := FALSE;
    v_lives boolean;
BEGIN
    IF p_batch_instance_id <> 0 THEN
        SELECT bi.* INTO v_caller
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id = p_batch_instance_id;
    END IF;

    IF p_kind = 'Module' THEN
        p_instance_array := '{}';
        SELECT m.* INTO v_module FROM omd.module AS m WHERE m.module_id = p_definition_id;
        SELECT
            coalesce(bool_or(e.cause IS NULL), FALSE),
            array_agg(e.id ORDER BY e.id) FILTER (WHERE e.cause IS NOT NULL)
        INTO v_lives, p_dead
        FROM (
            SELECT
                mi.module_instance_id AS id,
                omd._cause_of_death(
                    mi.lease_expires_at, mi.is_session_bound, mi.backend_pid, mi.statement_start,
                    mi.processing_indicator, mi.batch_instance_id
                ) AS cause
            FROM omd.module_instance AS mi
            WHERE mi.module_id = p_definition_id AND mi.execution_status_code = 'E'
        ) AS e;
        IF p_batch_instance_id <> 0 THEN
            SELECT
                bm.module_id IS NOT NULL,
                coalesce(bm.inactive_indicator = 'Y', FALSE)
            INTO v_is_registered, v_is_inactive
            FROM (SELECT TRUE) AS one
            LEFT JOIN omd.batch_module AS bm
                ON bm.batch_id = v_caller.batch_id AND bm.module_id = p_definition_id;
        END IF;
        p_reason := CASE
            WHEN v_lives THEN 'RUNNING'
            WHEN v_caller.execution_status_code <> 'E' OR v_caller.processing_indicator <> 'P'
                THEN 'BATCH_NOT_PROCEEDING'
            WHEN NOT v_is_registered THEN 'NOT_REGISTERED'
            WHEN v_is_inactive THEN 'INACTIVE_IN_BATCH'
            WHEN v_module.inactive_indicator = 'Y' THEN 'INACTIVE'
            WHEN EXISTS (
                SELECT FROM omd.module_instance AS mi
                WHERE mi.module_id = p_definition_id
                    AND mi.next_run_indicator = 'C'
                    AND mi.next_run_batch_id IS NULL
                    AND mi.execution_status_code <> 'E'
            ) THEN 'DIRECTIVE'
            WHEN EXISTS (
                SELECT FROM omd.module_instance AS mi
                WHERE mi.module_id = p_definition_id
                    AND mi.next_run_indicator = 'C'
                    AND mi.next_run_batch_id = v_caller.batch_id
                    AND NOT omd._module_has_newer_failure(p_definition_id, mi.module_instance_id)
            ) THEN 'ALREADY_SUCCEEDED'
        END;
        IF p_reason IS NULL THEN
            p_instance_array := ARRAY(
                SELECT i.id FROM unnest(omd.pending_rollback(p_definition_id)) AS i (id)
                UNION
                SELECT mi.module_instance_id
                FROM omd.module_instance AS mi
                WHERE mi.module_instance_id = ANY(p_dead)
                ORDER BY 1
            );
        END IF;
    ELSE
        SELECT b.* INTO v_batch FROM omd.batch AS b WHERE b.batch_id = p_definition_id;
        SELECT
            coalesce(bool_or(e.cause IS NULL), FALSE),
            array_agg(e.id ORDER BY e.id) FILTER (WHERE e.cause IS NOT NULL)
        INTO v_lives, p_dead
        FROM (
            SELECT
                bi.batch_instance_id AS id,
                omd._cause_of_death(
                    bi.lease_expires_at, bi.is_session_bound, bi.backend_pid, bi.statement_start,
                    bi.processing_indicator, bi.parent_batch_instance_id
                ) AS cause
            FROM omd.batch_instance AS bi
            WHERE bi.batch_id = p_definition_id AND bi.execution_status_code = 'E'
        ) AS e;
        IF p_batch_instance_id <> 0 THEN
            SELECT
                h.batch_id IS NOT NULL,
                coalesce(h.inactive_indicator = 'Y', FALSE)
            INTO v_is_registered, v_is_inactive
            FROM (SELECT TRUE) AS one
            LEFT JOIN omd.batch_hierarchy AS h
                ON h.parent_batch_id = v_caller.batch_id AND h.batch_id = p_definition_id;
        END IF;
        p_reason := CASE
            WHEN v_lives THEN 'RUNNING'
            WHEN v_caller.execution_status_code <> 'E' OR v_caller.processing_indicator <> 'P'
                THEN 'BATCH_NOT_PROCEEDING'
            WHEN NOT v_is_registered THEN 'NOT_REGISTERED'
            WHEN v_is_inactive OR v_batch.inactive_indicator = 'Y' THEN 'INACTIVE'
            WHEN v_caller.batch_id IS NOT NULL
                AND omd._child_has_succeeded(
                    p_definition_id, v_caller.batch_id, p_batch_instance_id
                ) THEN 'ALREADY_SUCCEEDED'
            WHEN omd._frequency_holds_until(p_definition_id, v_batch.frequency_code) IS NOT NULL
                THEN 'FREQUENCY'
            WHEN EXISTS (
                SELECT FROM omd.batch_instance AS bi
                WHERE bi.batch_id = p_definition_id
                    AND bi.next_run_indicator = 'C'
                    AND bi.execution_status_code <> 'E'
            ) THEN 'DIRECTIVE'
        END;
    END IF;
    p_processing_indicator := CASE
        WHEN p_reason IN ('RUNNING', 'BATCH_NOT_PROCEEDING', 'NOT_REGISTERED') THEN 'A'
        WHEN p_reason IS NOT NULL THEN 'C'
        WHEN p_instance_array <> '{}' AND v_module.platform_code <> 'POSTGRES' THEN 'R'
        ELSE 'P'
    END;
END
$foresee_begin$;

COMMENT ON FUNCTION omd._foresee_begin IS
'Returns what a begin of the p_kind (Module, Batch) p_definition_id would answer, without trying '
'it: p_processing_indicator, p_reason, p_instance_array and p_dead, the runs that it would declare '
'dead first. p_batch_instance_id: the Batch Instance that would call. May be NULL: p_reason, '
'p_instance_array, p_dead. Locks: none.';
