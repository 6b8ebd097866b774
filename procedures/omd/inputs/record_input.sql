-- A run that executes says what it is about to read, so that a run at work is found too.

CREATE OR REPLACE PROCEDURE omd.record_input(
    p_table_code text,
    p_module_instance_id bigint DEFAULT NULL,
    p_source_instances bigint[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_input$
DECLARE
    v_id bigint;
BEGIN
    p_table_code := omd.require_argument('p_table_code', p_table_code);
    IF omd.spell_table(p_table_code) IS NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_table_code', 'value', p_table_code,
                'expected', 'the name of a table or view, schema.name'
            )
        );
    ELSIF EXISTS (SELECT FROM unnest(p_source_instances) AS s (id) WHERE s.id IS NULL) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_source_instances', 'value', p_source_instances::text,
                'expected', 'ids of Module Instances, and no NULL'
            )
        );
    END IF;
    v_id := omd._reading_run(p_module_instance_id);
    PERFORM omd.record_run_input(v_id, omd.base_tables(p_table_code), p_source_instances);
END
$record_input$;

COMMENT ON PROCEDURE omd.record_input IS
'For programs: '
'Records that a run reads a table or view, before it does. p_table_code: the table, schema.name; '
'a view stands for the tables under it. p_module_instance_id: the run, which must execute; NULL: '
'the run of this session. p_source_instances: the runs whose rows it reads and no others; NULL: '
'what is visible. It may be called for several tables, and again. Errors: OM004: there is no such '
'run; OM005: p_table_code is NULL, or no run executes in this session; OM013: p_table_code is no '
'name, or an id is NULL; OM101, OM102: the run does not execute. Locks: the instance, against '
'deletion. See docs/explanation/provenance.md. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.record_input TO omd_runner;
