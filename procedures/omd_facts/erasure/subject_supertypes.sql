-- A subtype is the same person as its supertype.

CREATE OR REPLACE FUNCTION omd_facts.subject_supertypes(
    p_interface_code text
)
RETURNS TABLE (entity_code text, supertype_code text)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        e.entity_code,
        s.entity_code AS supertype_code
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.entity AS e ON i.interface_id = e.interface_id
    INNER JOIN omd_facts.entity AS s ON e.supertype_id = s.entity_id
    WHERE i.interface_code = p_interface_code;
END;

COMMENT ON FUNCTION omd_facts.subject_supertypes IS
'For rooms: Returns the subtypes of the deployed interface p_interface_code, and the supertype of '
'each. Locks: none.';
