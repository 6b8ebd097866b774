-- Stages and rulesets are refused alike.

CREATE OR REPLACE FUNCTION omd_decision._raise_invalid(
    p_document text,
    p_code text,
    p_problems jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $raise_invalid$
BEGIN
    PERFORM omd.raise_error(
        'OM082',
        jsonb_build_object(
            'document', p_document,
            'code', p_code,
            'path', p_problems -> 0 -> 'path',
            'problem', p_problems -> 0 -> 'text',
            'problem_count', jsonb_array_length(p_problems),
            'problems', p_problems,
            'way_out', CASE
                WHEN EXISTS (
                    SELECT FROM omd.json_items(p_problems) AS p
                    WHERE p.item ->> 'text' LIKE '%CHANGES%'
                )
                    THEN 'A window over facts is {"by": "CHANGES"}, over views gdal_ or changes_ of one'
                        ' interface whose entities have "changes": true.'
                ELSE 'Mend the document, and define it again.'
            END
        )
    );
END
$raise_invalid$;

COMMENT ON FUNCTION omd_decision._raise_invalid IS
'Raises OM082 for the document p_document (stage or ruleset) p_code; p_problems: a list of path '
'and text. Errors: OM082. Locks: none.';
