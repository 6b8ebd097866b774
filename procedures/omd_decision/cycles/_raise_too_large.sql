-- The limit keeps one call from taking all memory.

CREATE OR REPLACE FUNCTION omd_decision._raise_too_large(
    p_definition jsonb,
    p_link text,
    p_wave text,
    p_key jsonb,
    p_rows bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $raise_too_large$
BEGIN
    PERFORM omd.raise_error(
        'OM291',
        jsonb_build_object(
            'stage_code', p_definition -> 'stage',
            'link', p_link,
            'wave', p_wave,
            'key', p_key,
            'rows', p_rows,
            'max_array_rows', p_definition -> 'max_array_rows'
        )
    );
END
$raise_too_large$;

COMMENT ON FUNCTION omd_decision._raise_too_large IS
'Raises OM291: an array value of the link p_link has p_rows records in p_wave and p_key. Errors: '
'OM291. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._raise_too_large TO omd_reader, omd_runner;
