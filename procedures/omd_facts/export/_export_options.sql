-- Whoever writes the files need not check them again.

CREATE OR REPLACE FUNCTION omd_facts._export_options(
    p_given jsonb,
    p_agreed jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $export_options$
DECLARE
    v_options jsonb;
    v_option record;
BEGIN
    IF jsonb_typeof(p_given) <> 'object' THEN
        PERFORM omd_facts._raise_export('p_options', p_given::text, 'it must be an object');
    END IF;
    v_options := jsonb_build_object(
        'max_concurrent_entities', coalesce(p_agreed -> 'max_concurrent_entities', '2'),
        'partitions', NULL,
        'compression', 'snappy'
    );
    FOR v_option IN SELECT o.key, o.value FROM jsonb_each(p_given) AS o LOOP
        IF NOT v_options ? v_option.key THEN
            PERFORM omd_facts._raise_export(
                'p_options', v_option.key,
                'the options are max_concurrent_entities, partitions and compression'
            );
        ELSIF v_option.key = 'compression' THEN
            IF v_option.value NOT IN ('"uncompressed"', '"snappy"', '"gzip"', '"lz4"', '"zstd"') THEN
                PERFORM omd_facts._raise_export(
                    'compression', v_option.value #>> '{}',
                    'it is uncompressed, snappy, gzip, lz4 or zstd'
                );
            END IF;
        ELSIF v_option.value::text !~ '^[1-9]\d{0,5}$' THEN
            PERFORM omd_facts._raise_export(
                v_option.key, v_option.value #>> '{}', 'it must be a whole number from 1 to 999999'
            );
        END IF;
    END LOOP;
    RETURN v_options || coalesce(p_given, '{}');
END
$export_options$;

COMMENT ON FUNCTION omd_facts._export_options IS
'Returns the options of an export: p_given, else what p_agreed says, else the defaults. Errors: '
'OM060: p_given is no object, or says something else. Locks: none.';
