-- A function can change without its name; so what is hashed of it is its definition.

CREATE OR REPLACE FUNCTION omd_decision._content_hash(
    p_kind text,
    p_content jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $content_hash$
DECLARE
    v_function oid := CASE p_kind WHEN 'FUNCTION' THEN omd_decision._function(p_content) END;
BEGIN
    RETURN encode(
        sha256(
            convert_to(
                CASE p_kind
                    WHEN 'FUNCTION' THEN pg_get_functiondef(v_function)
                    WHEN 'PYTHON' THEN p_content #>> '{}'
                    ELSE p_content::text
                END,
                'UTF8'
            )
        ),
        'hex'
    );
END
$content_hash$;

COMMENT ON FUNCTION omd_decision._content_hash IS
'Returns the SHA-256 of the content p_content of a ruleset of the kind p_kind, in hex; of a '
'FUNCTION that of its definition, NULL when there is no such function. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._content_hash TO omd_runner;
