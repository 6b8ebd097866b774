-- V163: positions of rows are read with the rights of the caller, and the rest of a walk with those
-- of the owner, so readers need no right on its parts. Applied once. A call of a routine that gets
-- other parameters goes on under another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_sources_of_run'] LOOP
        IF to_regproc(format('omd_provenance.%I', v_name)) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_provenance.%I IS %L', v_name, 'Retired.');
            EXECUTE format(
                'ALTER ROUTINE omd_provenance.%I RENAME TO %I',
                v_name, '_former_' || ltrim(v_name, '_')
            );
        END IF;
    END LOOP;
END
$do$;

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY[
        'omd.modules_writing', 'omd_facts.changes_in_block', 'omd_facts.writers_of_entity',
        'omd_lake.modules_writing', 'omd_provenance._runs_writing'
    ] LOOP
        IF to_regproc(v_name) IS NOT NULL THEN
            EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM omd_reader', to_regproc(v_name));
        END IF;
    END LOOP;
END
$do$;
