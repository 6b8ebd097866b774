-- omd.execute_module executes this as the SQL of the run, so that an error undoes all of it. It
-- runs with the rights of the caller.

CREATE OR REPLACE PROCEDURE omd_decision._process_run(
    p_module_instance_id bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO'
SET jit = off
AS $process_run$
DECLARE
    v_run record;
    v_block record;
    v_call text;
    v_counts jsonb;
    v_state text;
    v_constraint text;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    SELECT b.* INTO v_block FROM omd_decision._run_block(p_module_instance_id) AS b;
    IF FOUND THEN
        CALL omd.open_block(
            v_block.source_code, v_block.start_value, v_block.start_id, v_block.end_id
        );
    END IF;
    v_run.definition := omd_decision._as_read(v_run.definition);
    v_call := omd.quote_table(v_run.content #>> '{}', 'POSTGRES');
    IF omd_decision._content_hash(v_run.ruleset_kind, v_run.content)
        IS DISTINCT FROM v_run.content_hash
    THEN
        PERFORM omd.raise_error(
            'OM287',
            jsonb_build_object(
                'ruleset_code', v_run.ruleset_code,
                'version', v_run.ruleset_version,
                'content', v_run.content
            )
        );
    END IF;
    PERFORM omd_decision._require_links(v_run.definition);
    PERFORM omd_decision._note_positions(
        p_module_instance_id, v_run.definition, v_run.end_value
    );
    BEGIN
        EXECUTE omd_decision._run_sql(
            v_run.definition, v_call, v_run.insert_column, v_run.batch_size
        )
        INTO v_counts
        USING
            p_module_instance_id, v_run.module_code, v_run.ruleset_version, v_run.definition,
            v_run.start_value, v_run.end_value;
    EXCEPTION
        WHEN assert_failure OR OTHERS THEN
            GET STACKED DIAGNOSTICS
                v_state = RETURNED_SQLSTATE,
                v_constraint = CONSTRAINT_NAME;
            -- The error may be the ruleset's, whatever code it has.
            PERFORM omd_decision._name_failure(
                v_run.definition, v_run.ruleset_code, v_call,
                v_run.start_value, v_run.end_value
            );
            IF v_state ~ '^(22|23|44|P0)' THEN
                PERFORM omd_decision._name_unwritten(
                    p_module_instance_id,
                    format(
                        'SELECT c.wave, c.key, c.cycle_no, c.invocation_no, p.params,'
                        ' %s(p.params) AS result'
                        ' FROM omd_decision._cycles($1, NULL, $2, $3) WITH ORDINALITY AS c'
                        ' LEFT JOIN omd_decision._buffers($1, NULL, $2, $3) AS b'
                        ' ON b.wave_key = coalesce(''1'' || c.wave, ''0'')'
                        ' CROSS JOIN LATERAL (SELECT CASE WHEN b.params IS NULL THEN c.params'
                        ' ELSE c.params || b.params END AS params) AS p'
                        ' WHERE c.link IS NULL AND c.cycle_no IS NOT NULL ORDER BY c.ordinality',
                        v_call
                    ),
                    v_state, v_constraint
                );
            END IF;
            RAISE;
    END;
    PERFORM omd_decision._judge(v_run.definition, v_counts -> 'rejects');
    IF (v_counts ->> 'unfit')::bigint > 0 THEN
        PERFORM omd_decision._name_failure(
            v_run.definition, v_run.ruleset_code, v_call,
            v_run.start_value, v_run.end_value
        );
    END IF;
    PERFORM omd_decision._finish_run(
        p_module_instance_id,
        v_counts || jsonb_build_object(
            'attempts', (v_counts ->> 'cycles')::bigint + (v_counts ->> 'failed')::bigint
        )
    );
    PERFORM omd.tell_row_counts(
        p_rows_input => (v_counts ->> 'rows')::bigint + (v_counts ->> 'buffered')::bigint,
        p_rows_inserted => (v_counts ->> 'output')::bigint,
        p_rows_rejected => (v_counts ->> 'rejected')::bigint
    );
END
$process_run$;

COMMENT ON PROCEDURE omd_decision._process_run IS
'Runs the stage of the run p_module_instance_id in the transaction of the caller: reads, calls, '
'writes, and judges what it rejects. Errors: OM114: rows of its block were taken back; OM181; '
'OM280, OM281, OM282: rejects that the stage forbids; OM283: the ruleset failed; OM284: its '
'answer does not fit, or an output does not take it; OM285, OM289, OM290, OM291: the records; '
'OM287: the function has changed; those of the outputs. Locks: the source of its changes, beside '
'readers; what reading and writing takes.';
GRANT EXECUTE ON PROCEDURE omd_decision._process_run TO omd_runner;
