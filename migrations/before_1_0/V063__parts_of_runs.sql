-- V063: a run of every kind is begun and ended by the same parts. Applied once.

DO $do$
DECLARE
    v_schema text;
    v_name text;
BEGIN
    -- It gets another parameter: its file creates it again. A call that executes it goes on, under
    -- another name, until sql/cleanup/drop_retired.sql drops it.
    IF to_regproc('omd_lineage.begin_step') IS NOT NULL THEN
        COMMENT ON PROCEDURE omd_lineage.begin_step IS 'Retired.';
        ALTER PROCEDURE omd_lineage.begin_step RENAME TO _former_begin_step;
    END IF;
    -- Routines of other names do their work; calls that execute look them up by these names.
    FOR v_schema, v_name IN
        VALUES
        ('omd_facts', '_begin_load'),
        ('omd_facts', '_release_item'),
        ('omd_facts', '_register_agreement_module'),
        ('omd_decision', '_begin_run')
    LOOP
        IF to_regproc(format('%I.%I', v_schema, v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %I.%I IS %L', v_schema, v_name, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
