-- Numbers of files count within an entity, so the table of the rows tells them apart.

CREATE OR REPLACE FUNCTION omd_delivery.files_of(
    p_delivery_id bigint,
    p_entity_code text
)
RETURNS TABLE (
    file_no integer,
    uri text,
    bytes bigint,
    modified_datetime timestamptz,
    table_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        f.file_no,
        f.uri,
        f.bytes,
        f.modified_datetime,
        format('%I.%I', i.lvl_schema, e.entity_code) AS table_code
    FROM omd_delivery.delivery_file AS f
    INNER JOIN omd_delivery.entity AS e ON f.entity_id = e.entity_id
    INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
    WHERE
        f.delivery_id = p_delivery_id
        AND (p_entity_code IS NULL OR e.entity_code = p_entity_code);
END;

COMMENT ON FUNCTION omd_delivery.files_of IS
'For rooms: Returns the files of the entity p_entity_code (NULL: of all) that the delivery '
'p_delivery_id was staged from, each with the table of its rows; none when it came otherwise. '
'Locks: none.';
