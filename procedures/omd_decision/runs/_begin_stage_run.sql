-- The rollback of former runs runs with the rights of the caller. The run is pinned in the same
-- transaction. Where there is nothing to read and nothing to undo nothing begins; what another
-- session has read between the look and the begin is found out when the Module is locked, and the
-- begin is taken back.

CREATE OR REPLACE PROCEDURE omd_decision._begin_stage_run(
    p_stage_code text,
    p_batch_instance_id bigint,
    p_end_value timestamptz,
    p_end_id bigint,
    p_effective_at timestamptz,
    p_execution_context jsonb,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_executable text DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_stage_run$
DECLARE
    v_plan record;
    v_look record;
    v_indicator text;
    v_nothing text;
    v_awaited text;
BEGIN
    p_executable := 'CALL omd_decision.process_stage()';
    SELECT p.* INTO v_plan
    FROM omd_decision._stage_plan(p_stage_code, p_effective_at, 'POSTGRES') AS p;
    PERFORM omd_decision._require_links(v_plan.definition);
    v_look := omd_decision._look(p_stage_code, p_end_value, p_end_id);
    p_detail := v_look.p_nothing;
    IF p_detail IS NULL THEN
        BEGIN
            CALL omd.begin_in_database_run(
                v_plan.module_code, p_batch_instance_id, p_executable, p_module_instance_id,
                v_indicator, p_execution_context
            );
            IF v_indicator = 'P' THEN
                v_nothing := omd_decision._pin_run(
                    p_module_instance_id, 'POSTGRES', p_end_value, p_end_id, p_effective_at
                );
                -- A recall may have taken back what it reads while the begin waited for the Module.
                v_awaited := omd_decision._awaits(p_stage_code);
                v_nothing := coalesce(v_awaited, v_nothing);
                IF v_nothing IS NOT NULL AND (v_awaited IS NOT NULL OR NOT v_look.p_is_undone) THEN
                    RAISE no_data_found;
                END IF;
                v_nothing := NULL;
            ELSE
                p_detail := omd.reason_of(p_module_instance_id);
            END IF;
        EXCEPTION
            WHEN no_data_found THEN
                IF v_nothing IS NULL THEN
                    RAISE;
                END IF;
                p_detail := v_nothing;
                v_indicator := NULL;
        END;
    END IF;
    p_outcome := CASE v_indicator
        WHEN 'P' THEN 'RUN' WHEN 'C' THEN 'SKIPPED' WHEN 'A' THEN 'BUSY' ELSE 'NOTHING'
    END;
    IF p_outcome = 'NOTHING' THEN
        p_module_instance_id := NULL;
        p_executable := NULL;
    END IF;
END
$begin_stage_run$;

COMMENT ON PROCEDURE omd_decision._begin_stage_run IS
'Begins a run of the stage p_stage_code in this statement, for p_batch_instance_id, up to '
'p_end_value or the change p_end_id, with the ruleset of p_effective_at and p_execution_context. '
'Returns p_outcome, RUN, NOTHING, SKIPPED or BUSY, the id, the SQL to execute and, in p_detail, '
'why it is not RUN. Locks: the Module row.';
GRANT EXECUTE ON PROCEDURE omd_decision._begin_stage_run TO omd_runner;
