-- Two places find that a plan is no longer what would happen.

CREATE OR REPLACE FUNCTION omd_provenance._raise_changed(
    p_recall_id bigint,
    p_come jsonb,
    p_gone jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_changed$
BEGIN
    PERFORM omd.raise_error(
        'OM190',
        jsonb_build_object(
            'recall_id', p_recall_id,
            'problem', concat_ws(
                '; ',
                CASE
                    WHEN p_come <> '[]' THEN format('%s have come', jsonb_array_length(p_come))
                END,
                CASE
                    WHEN p_gone <> '[]' THEN format('%s are gone', jsonb_array_length(p_gone))
                END
            ),
            'way_out', format(
                'Plan again, or accept what has come: CALL omd_provenance.recall(%s, ''{GROWTH}'');',
                p_recall_id
            ),
            'come', p_come,
            'gone', p_gone
        )
    );
END
$raise_changed$;

COMMENT ON FUNCTION omd_provenance._raise_changed IS
'Raises OM190 for the recall p_recall_id, whose plan has lost p_gone and to which p_come has come. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._raise_changed TO omd_admin;
