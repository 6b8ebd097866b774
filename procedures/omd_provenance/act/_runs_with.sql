-- The act takes the runs of an action in the order of the plan.

CREATE OR REPLACE FUNCTION omd_provenance._runs_with(
    p_items jsonb,
    p_action text
)
RETURNS bigint[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg((e.item ->> 'module_instance_id')::bigint ORDER BY e.n), '{}')
    FROM jsonb_array_elements(p_items) WITH ORDINALITY AS e (item, n)
    WHERE e.item ->> 'action' = p_action;
END;

COMMENT ON FUNCTION omd_provenance._runs_with IS
'Returns the runs with which the plan p_items, as _plan has it, does p_action, in its order. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._runs_with TO omd_admin;
