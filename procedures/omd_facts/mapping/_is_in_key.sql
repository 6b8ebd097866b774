-- Such a relationship identifies the child.

CREATE OR REPLACE FUNCTION omd_facts._is_in_key(
    p_entity jsonb,
    p_relationship jsonb
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT NOT EXISTS (
        SELECT
        FROM jsonb_array_elements(p_entity -> 'attributes') AS a (item)
        WHERE
            p_relationship -> 'columns' ? (a.item ->> 'attribute_code')
            AND a.item ->> 'key_position' IS NULL
    );
END;

COMMENT ON FUNCTION omd_facts._is_in_key IS
'Returns whether p_relationship of p_entity, both of a registry, lies wholly in the key. Locks: '
'none.';
