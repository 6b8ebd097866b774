CREATE OR REPLACE FUNCTION omd_event._parent_facet(
    p_caller jsonb,
    p_context jsonb
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p.parent IS NULL THEN '{}'
            ELSE
                jsonb_build_object(
                    'parent',
                    omd_event._facet(
                        'ParentRunFacet',
                        '1-2-0',
                        p.parent || jsonb_build_object(
                            'root',
                            coalesce(
                                nullif(p_caller -> 'called_by', 'null'),
                                p.named_root,
                                p.named_parent,
                                p_caller -> 'top'
                            )
                        )
                    )
                )
        END
    FROM (
        SELECT
            coalesce(p_caller -> 'run', n.named_parent) AS parent,
            n.named_parent,
            n.named_root
        FROM (
            SELECT
                omd_event._context_parent(p_context, 'openlineage_parent_id') AS named_parent,
                omd_event._context_parent(p_context, 'openlineage_root_parent_id') AS named_root
        ) AS n
    ) AS p;
END;

COMMENT ON FUNCTION omd_event._parent_facet IS
'Returns an object with the facet parent of a run; an empty one where it has none. p_caller: what '
'omd_event._callers has of the Batch Instance that called it; NULL: none did. p_context: its '
'execution context. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._parent_facet FROM PUBLIC;
