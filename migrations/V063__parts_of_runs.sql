-- V063: a run of every kind is begun and ended by the same parts, so these routines get other
-- parameters, or another one does their work. Applied once. A call that executes one goes on, under
-- another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_schema text;
    v_name text;
BEGIN
    FOR v_schema, v_name IN
        VALUES
        ('omd_lineage', 'begin_step'),
        ('omd_facts', '_begin_load'),
        ('omd_facts', '_release_item'),
        ('omd_facts', '_register_agreement_module'),
        ('omd_decision', '_begin_run')
    LOOP
        IF to_regproc(format('%I.%I', v_schema, v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE %I.%I IS %L', v_schema, v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE %I.%I RENAME TO %I',
                v_schema, v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;
