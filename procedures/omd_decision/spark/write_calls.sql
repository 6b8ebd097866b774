-- A job on Spark copies what it has called into a temporary table, and this writes it: by the text
-- by which the database writes its own calls, so that values are converted alike.

CREATE OR REPLACE PROCEDURE omd_decision.write_calls(
    p_module_instance_id bigint,
    INOUT p_rows bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO'
SET jit = off
AS $write_calls$
DECLARE
    v_run record;
    v_unfit bigint;
    v_state text;
    v_constraint text;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    BEGIN
        EXECUTE format(
            'WITH called AS NOT MATERIALIZED (SELECT c.* FROM pg_temp.omd_called AS c)%s'
            ' SELECT %s, (SELECT count(*) FROM called AS c WHERE c.link IS NULL AND (%s))',
            omd_decision._write_sql(v_run.definition, v_run.insert_column),
            (
                SELECT string_agg(format('(SELECT count(*) FROM out_%s)', o.ordinal), ' + ')
                FROM omd.json_items(v_run.definition -> 'outputs') AS o
            ),
            omd_decision._unfit_sql(v_run.definition)
        )
        INTO p_rows, v_unfit
        USING p_module_instance_id, v_run.module_code, v_run.ruleset_version;
    EXCEPTION
        WHEN data_exception OR integrity_constraint_violation
            OR with_check_option_violation OR raise_exception
        THEN
            GET STACKED DIAGNOSTICS
                v_state = RETURNED_SQLSTATE,
                v_constraint = CONSTRAINT_NAME;
            PERFORM omd_decision._name_unfit(v_run.definition, v_run.ruleset_code);
            PERFORM omd_decision._name_unwritten(
                p_module_instance_id,
                'SELECT c.wave, c.key, c.cycle_no, c.invocation_no, c.params, c.result'
                ' FROM pg_temp.omd_called AS c WHERE c.link IS NULL'
                ' ORDER BY c.wave, c.cycle_no, c.invocation_no',
                v_state, v_constraint
            );
            RAISE;
    END;
    IF v_unfit > 0 THEN
        PERFORM omd_decision._name_unfit(v_run.definition, v_run.ruleset_code);
    END IF;
END
$write_calls$;

COMMENT ON PROCEDURE omd_decision.write_calls IS
'For the driver: '
'Writes outputs, cycles and rejects of the run p_module_instance_id, whose engine is Spark, from '
'the temporary table omd_called of the caller. Its columns are wave, key, cycle_no, '
'invocation_no, link, arrival, code, cause_link, inputs, params as in cycles, and result and '
'trace, what the ruleset has answered. Call it in the transaction of omd.record_write. Returns '
'p_rows, the records of all outputs. Errors: OM005: p_module_instance_id is NULL; OM181: it is no '
'executing run of a stage; OM284: an answer does not fit, or an output does not take it; those of '
'the outputs. Locks: what writing takes.';
GRANT EXECUTE ON PROCEDURE omd_decision.write_calls TO omd_runner;
