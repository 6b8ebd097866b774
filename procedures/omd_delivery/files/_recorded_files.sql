-- What is to be read again, as the worker is given it.

CREATE OR REPLACE FUNCTION omd_delivery._recorded_files(
    p_delivery_id bigint
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'entity', e.entity_code,
                    'uri', f.uri,
                    'bytes', f.bytes,
                    'modified', f.modified_datetime,
                    'root', f.root
                )
                ORDER BY e.ordinal, f.file_no
            ),
            '[]'
        )
    FROM omd_delivery.delivery_file AS f
    INNER JOIN omd_delivery.entity AS e ON f.entity_id = e.entity_id
    WHERE f.delivery_id = p_delivery_id;
END;

COMMENT ON FUNCTION omd_delivery._recorded_files IS
'Returns the files of the delivery p_delivery_id, [{entity, uri, bytes, modified, root}]. Locks: '
'none.';
