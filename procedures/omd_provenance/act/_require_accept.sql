-- A slip in a word would be consent to nothing, and look like consent.

CREATE OR REPLACE FUNCTION omd_provenance._require_accept(
    p_accept text[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_accept$
DECLARE
    v_known CONSTANT text[] := '{BY_HAND,GIVE_UP,WITHDRAW,PENDING,UNKNOWN,GROWTH}'::text[];
    v_other text;
BEGIN
    SELECT coalesce(a.word, 'NULL') INTO v_other
    FROM unnest(p_accept) AS a (word)
    WHERE a.word IS NULL OR NOT a.word = ANY(v_known)
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_accept', 'value', v_other,
                'expected', 'of ' || array_to_string(v_known, ', ')
            )
        );
    END IF;
END
$require_accept$;

COMMENT ON FUNCTION omd_provenance._require_accept IS
'Refuses p_accept when one of its words is no action that needs consent. Errors: OM013. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_provenance._require_accept TO omd_admin;
