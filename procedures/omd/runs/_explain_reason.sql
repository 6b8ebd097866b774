-- A person wants to know which instances the reason of an answer is about. The function only
-- describes them; the decision is made elsewhere.

CREATE OR REPLACE FUNCTION omd._explain_reason(
    p_kind text,
    p_definition_id integer,
    p_batch_instance_id bigint,
    p_reason text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            CASE
                WHEN p_reason = 'RUNNING' AND p_kind = 'Batch'
                    THEN (
                        SELECT
                            jsonb_build_object(
                                'batch_instance_id', bi.batch_instance_id,
                                'parent_batch_instance_id', bi.parent_batch_instance_id,
                                'start_datetime', bi.start_datetime,
                                'lease_expires_at', bi.lease_expires_at,
                                'backend_pid', bi.backend_pid,
                                'started_by', bi.started_by,
                                'execution_context', bi.execution_context
                            )
                        FROM omd.batch_instance AS bi
                        WHERE
                            bi.batch_instance_id = (
                                SELECT min(o.id)
                                FROM omd._executing_batch_instances(p_definition_id, NULL) AS o (id)
                            )
                    )
                WHEN p_reason = 'RUNNING'
                    THEN (
                        SELECT
                            jsonb_build_object(
                                'module_instance_id', mi.module_instance_id,
                                'batch_instance_id', mi.batch_instance_id,
                                'start_datetime', mi.start_datetime,
                                'lease_expires_at', mi.lease_expires_at,
                                'backend_pid', mi.backend_pid,
                                'started_by', mi.started_by,
                                'execution_context', mi.execution_context
                            )
                        FROM omd.module_instance AS mi
                        WHERE
                            mi.module_instance_id = (
                                SELECT min(e.e)
                                FROM omd._executing_module_instances(p_definition_id, NULL) AS e
                            )
                    )
                WHEN p_reason = 'FREQUENCY'
                    THEN (
                        SELECT
                            jsonb_build_object(
                                'batch_instance_id', bi.batch_instance_id,
                                'start_datetime', bi.start_datetime,
                                'frequency_code', f.frequency_code,
                                'frequency_interval', f.frequency_interval,
                                'frequency_tolerance', f.frequency_tolerance,
                                'holds_until', omd._frequency_holds_until(
                                    p_definition_id, b.frequency_code
                                )
                            )
                        FROM omd.batch_instance AS bi
                        INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
                        INNER JOIN omd.frequency AS f ON b.frequency_code = f.frequency_code
                        WHERE bi.batch_instance_id = omd._last_real_batch_run(p_definition_id)
                    )
                WHEN p_reason IN ('DIRECTIVE', 'ALREADY_SUCCEEDED') AND p_kind = 'Batch'
                    THEN (
                        SELECT
                            jsonb_build_object(
                                'batch_instance_ids',
                                jsonb_agg(bi.batch_instance_id ORDER BY bi.batch_instance_id)
                            )
                        FROM omd.batch_instance AS bi
                        WHERE
                            bi.batch_id = p_definition_id
                            AND bi.next_run_indicator = 'C'
                            AND bi.execution_status_code <> 'E'
                    )
                WHEN p_reason IN ('DIRECTIVE', 'ALREADY_SUCCEEDED')
                    THEN (
                        SELECT
                            jsonb_build_object(
                                'module_instance_ids',
                                jsonb_agg(mi.module_instance_id ORDER BY mi.module_instance_id)
                            )
                        FROM omd.module_instance AS mi
                        WHERE
                            mi.module_id = p_definition_id
                            AND mi.next_run_indicator = 'C'
                            AND (mi.next_run_batch_id IS NULL) = (p_reason = 'DIRECTIVE')
                            AND mi.execution_status_code <> 'E'
                    )
                WHEN p_reason IN ('BATCH_NOT_PROCEEDING', 'NOT_REGISTERED', 'INACTIVE_IN_BATCH')
                    THEN (
                        SELECT
                            jsonb_build_object(
                                'batch_code', b.batch_code,
                                'batch_instance_id', bi.batch_instance_id,
                                'execution_status_code', bi.execution_status_code,
                                'processing_indicator', bi.processing_indicator
                            )
                        FROM omd.batch_instance AS bi
                        INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
                        WHERE bi.batch_instance_id = p_batch_instance_id
                    )
            END,
            '{}'
        );
END;

COMMENT ON FUNCTION omd._explain_reason IS
'Returns the instances that p_reason is about, as a JSON object; it is empty when the reason is '
'about none. p_kind: Batch or Module. p_definition_id: its batch_id or module_id. '
'p_batch_instance_id: the Batch Instance that calls. Locks: none.';
