-- The root is the topmost of the Batch Instances and of the programs that their contexts name.

CREATE OR REPLACE FUNCTION omd_event._parent_facet(
    p_caller jsonb,
    p_context jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $parent_facet$
DECLARE
    v_named jsonb;
    v_root jsonb := nullif(p_caller -> 'called_by', 'null');
BEGIN
    IF p_context ?| '{openlineage_parent_id,openlineage_root_parent_id}' THEN
        v_named := omd_event._context_parent(p_context, 'openlineage_parent_id');
        v_root := coalesce(
            v_root,
            omd_event._context_parent(p_context, 'openlineage_root_parent_id'),
            v_named
        );
    END IF;
    IF p_caller IS NULL AND v_named IS NULL THEN
        RETURN '{}'::jsonb;
    END IF;
    RETURN jsonb_build_object(
        'parent',
        omd_event._facet(
            'ParentRunFacet',
            '1-2-0',
            coalesce(p_caller -> 'run', v_named)
            || jsonb_build_object('root', coalesce(v_root, p_caller -> 'top'))
        )
    );
END
$parent_facet$;

COMMENT ON FUNCTION omd_event._parent_facet IS
'Returns an object with the facet parent of a run; an empty one where it has none. p_caller: what '
'omd_event._callers has of the Batch Instance that called it; NULL: none did. p_context: its '
'execution context. Locks: none.';
