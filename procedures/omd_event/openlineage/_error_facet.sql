-- The text of an error may hold values of business rows, and everybody may see an event. The
-- command shows it to who may.

CREATE OR REPLACE FUNCTION omd_event._error_facet(
    p_return_code text,
    p_command text,
    p_engine_code text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'errorMessage',
            omd_event._facet(
                'ErrorMessageRunFacet',
                '1-0-1',
                jsonb_build_object(
                    'message', coalesce(p_return_code, 'failed') || ': ' || p_command,
                    'programmingLanguage',
                    CASE WHEN p_engine_code = 'SPARK' THEN 'PYTHON' ELSE 'SQL' END
                )
            )
        );
END;

COMMENT ON FUNCTION omd_event._error_facet IS
'Returns an object with the facet errorMessage. p_return_code: the SQLSTATE or return code; NULL: '
'none was given. p_command: what shows more. p_engine_code: of the Module; NULL: of a Batch. '
'Locks: none.';
