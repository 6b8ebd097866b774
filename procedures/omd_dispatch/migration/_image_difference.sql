-- It names columns, not values: a payload may be long, and secret.

CREATE OR REPLACE FUNCTION omd_dispatch._image_difference(
    p_image jsonb,
    p_copy jsonb
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT string_agg(i.key, ', ' ORDER BY i.key)
    FROM jsonb_each(p_image) AS i
    WHERE p_copy -> i.key IS DISTINCT FROM i.value AND p_copy IS NOT NULL;
END;

COMMENT ON FUNCTION omd_dispatch._image_difference IS
'Returns the columns in which the image p_image of a task and that of its copy p_copy differ; NULL'
' when there is none. Locks: none.';
