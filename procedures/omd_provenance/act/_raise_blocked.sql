-- The plan knows most of what is in the way; a foreign key may say it only when rows go.

CREATE OR REPLACE FUNCTION omd_provenance._raise_blocked(
    p_recall_id bigint,
    p_blocked jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_blocked$
BEGIN
    PERFORM omd.raise_error(
        'OM191',
        jsonb_build_object(
            'recall_id', p_recall_id,
            'problem', p_blocked -> 0 ->> 'problem',
            'items', p_blocked
        )
    );
END
$raise_blocked$;

COMMENT ON FUNCTION omd_provenance._raise_blocked IS
'Raises OM191 for the recall p_recall_id, with what is in the way, p_blocked. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._raise_blocked TO omd_admin;
