-- A member brings all of its rows at once, and each load adds those that are new.

CREATE OR REPLACE FUNCTION omd_facts._lacks_members(
    p_entity_id integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lacks_members$
DECLARE
    v_entity omd_facts.entity;
    v_has_members boolean;
BEGIN
    SELECT e.* INTO v_entity FROM omd_facts.entity AS e WHERE e.entity_id = p_entity_id;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM cfl.%I AS g WHERE g.member_entity_id = $1)',
        'g_' || v_entity.generalization_code
    ) INTO v_has_members USING p_entity_id;
    RETURN NOT v_has_members;
END
$lacks_members$;

COMMENT ON FUNCTION omd_facts._lacks_members IS
'Returns whether the generalization of the entity p_entity_id has no row of it. Locks: none.';
