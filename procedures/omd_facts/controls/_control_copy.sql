-- The name says nothing, since a code may be as long as a name.

CREATE OR REPLACE FUNCTION omd_facts._control_copy(
    p_entity_id integer,
    p_control_code text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            '%I.%I',
            'cfl_' || i.interface_code,
            format('control_%s_%s', e.entity_id, left(md5(p_control_code), 12))
        )
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i ON e.interface_id = i.interface_id
    WHERE e.entity_id = p_entity_id;
END;

COMMENT ON FUNCTION omd_facts._control_copy IS
'Returns the name of the copy of the control p_control_code of the entity p_entity_id. Locks: '
'none.';
