-- A look before the begin: most looks at a stage find nothing, and draw no instance.

CREATE OR REPLACE FUNCTION omd_decision._look(
    p_stage_code text,
    p_end_value timestamptz,
    p_end_id bigint,
    OUT p_nothing text,
    OUT p_is_undone boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $look$
DECLARE
    v_stage omd_decision.stage := omd_decision._require_stage(p_stage_code);
    v_window record;
BEGIN
    p_is_undone := FALSE;
    p_nothing := omd_decision._awaits(p_stage_code);
    IF p_nothing IS NOT NULL THEN
        RETURN;
    END IF;
    -- The first look is cheap, also beside a transaction that sleeps.
    p_is_undone := EXISTS (SELECT FROM omd.open_module_instances(v_stage.module_id))
        AND EXISTS (
            SELECT FROM omd.open_instance AS o
            WHERE o.module_id = v_stage.module_id
                AND (o.is_rollback_pending OR o.execution_status_code = 'E')
        );
    -- What is undone is read again, and the begin says whether who executes lives. So is what a
    -- recall took back.
    IF p_is_undone
        OR (omd.next_window_return(v_stage.module_id)).p_window_return_id IS NOT NULL
    THEN
        RETURN;
    END IF;
    v_window := omd_decision._next_window(
        v_stage.stage_id,
        (
            SELECT v.definition FROM omd_decision.stage_version AS v
            WHERE v.stage_id = v_stage.stage_id AND v.version = v_stage.version
        ),
        p_end_value,
        p_end_id
    );
    IF v_window.p_is_empty THEN
        p_nothing := v_window.p_detail;
    END IF;
END
$look$;

COMMENT ON FUNCTION omd_decision._look IS
'Returns why a run of the stage p_stage_code up to p_end_value or the change p_end_id would read '
'nothing (p_nothing; NULL: it may read something, or p_is_undone: a run waits for its rollback, or '
'executes, and may be dead). Errors: OM010, OM013: the end; OM080. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._look TO omd_runner;
