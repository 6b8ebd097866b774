-- It is the begin of a job that runs elsewhere: it lives by a lease, and calls the ruleset
-- itself.

CREATE OR REPLACE PROCEDURE omd_decision.begin_stage(
    p_stage_code text,
    p_batch_instance_id bigint DEFAULT NULL,
    p_execution_context jsonb DEFAULT NULL,
    p_lease interval DEFAULT NULL,
    p_end_value timestamptz DEFAULT NULL,
    p_effective_at timestamptz DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_processing_indicator text DEFAULT NULL,
    INOUT p_instance_array bigint[] DEFAULT NULL,
    INOUT p_reason text DEFAULT NULL,
    INOUT p_definition jsonb DEFAULT NULL,
    INOUT p_ruleset jsonb DEFAULT NULL,
    p_end_id bigint DEFAULT NULL,
    INOUT p_block jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $begin_stage$
DECLARE
    v_module_code text;
    v_run record;
    v_look record;
    v_nothing text;
    v_awaited text;
BEGIN
    SELECT p.module_code INTO v_module_code
    FROM omd_decision._stage_plan(p_stage_code, p_effective_at, 'SPARK') AS p;
    v_look := omd_decision._look(p_stage_code, p_end_value, p_end_id);
    v_nothing := v_look.p_nothing;
    IF v_nothing IS NULL THEN
        BEGIN
            CALL omd.begin_module(
                v_module_code, p_batch_instance_id, p_execution_context, p_lease,
                p_module_instance_id, p_processing_indicator, p_instance_array, p_reason
            );
            IF p_processing_indicator <> 'P' THEN
                RETURN;
            END IF;
            v_nothing := omd_decision._pin_run(
                p_module_instance_id, 'SPARK', p_end_value, p_end_id, p_effective_at
            );
            -- A recall may have taken back what it reads while the begin waited for the Module.
            v_awaited := omd_decision._awaits(p_stage_code);
            v_nothing := coalesce(v_awaited, v_nothing);
            IF v_nothing IS NOT NULL AND (v_awaited IS NOT NULL OR NOT v_look.p_is_undone) THEN
                RAISE no_data_found;
            END IF;
            v_nothing := NULL;
        EXCEPTION
            WHEN no_data_found THEN
                IF v_nothing IS NULL THEN
                    RAISE;
                END IF;
        END;
    END IF;
    IF v_nothing IS NOT NULL THEN
        p_module_instance_id := NULL;
        p_processing_indicator := 'C';
        p_instance_array := NULL;
        p_reason := v_nothing;
        RETURN;
    END IF;
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    BEGIN
        PERFORM omd_decision._note_positions(
            p_module_instance_id, v_run.definition, v_run.end_value
        );
    EXCEPTION
        -- The job may hand over DataFrames, and then nobody needs to read the source; else it
        -- tells the error itself.
        WHEN OTHERS THEN
            NULL;
    END;
    p_definition := v_run.definition;
    SELECT jsonb_build_array(b.source_code, b.start_value, b.start_id, b.end_id) INTO p_block
    FROM omd_decision._run_block(p_module_instance_id) AS b;
    p_ruleset := jsonb_build_object(
        'ruleset', v_run.ruleset_code,
        'version', v_run.ruleset_version,
        'kind', v_run.ruleset_kind,
        'content', v_run.content,
        'content_hash', v_run.content_hash
    );
END
$begin_stage$;

COMMENT ON PROCEDURE omd_decision.begin_stage IS
'For the driver: '
'Begins a run of the stage p_stage_code whose engine is Spark, as omd.begin_module does. '
'p_batch_instance_id, p_execution_context, p_lease: as there. p_end_value: up to where a stage '
'with a window reads; NULL: now less its delay. p_end_id: the last change that a stage reads '
'whose window goes by changes; NULL: the newest. p_effective_at: the moment for which the version '
'of the ruleset is chosen; NULL: now. Returns p_module_instance_id, p_processing_indicator, '
'p_instance_array and p_reason as omd.begin_module does, and where the run proceeds p_definition, '
'the stage document with its defaults, and p_ruleset: {"ruleset", "version", "kind", "content", '
'"content_hash"}, and p_block, where its window goes by changes the arguments of omd.show_block, '
'which each transaction that reads a link calls first. C without p_module_instance_id: there is '
'nothing to read. Errors: OM002, OM003, OM005: p_stage_code is NULL; OM009, OM010: the window '
'would end before its start; OM011, OM013: the lease, the context or p_end_id; OM014, OM019, '
'OM080: there is no such stage; OM100, OM101, OM112: the rollback of a former run does not undo '
'everything; OM201, OM202, OM205: it can not be built; OM286: no version of the ruleset is '
'effective; OM287: its function has changed. Locks: the Module row. May be NULL: '
'p_module_instance_id, p_instance_array, p_reason, p_definition, p_ruleset, p_block.';
GRANT EXECUTE ON PROCEDURE omd_decision.begin_stage TO omd_runner;
