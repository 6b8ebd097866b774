-- The values of an enumeration are codes, and say nothing of a person.

CREATE OR REPLACE FUNCTION omd_delivery.is_personal_text(
    p_entity_id integer,
    p_attribute_code text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_personal_text$
BEGIN
    RETURN EXISTS (
        SELECT FROM omd_delivery.attribute AS a
        WHERE a.entity_id = p_entity_id
            AND a.attribute_code = p_attribute_code
            AND omd_delivery._type_kind(a.data_type) = 'text'
            AND a.value_list IS NULL
    );
END
$is_personal_text$;

COMMENT ON FUNCTION omd_delivery.is_personal_text IS
'For rooms: Returns whether the attribute p_attribute_code of the entity p_entity_id is a text '
'that is no code of an enumeration. Locks: none.';
