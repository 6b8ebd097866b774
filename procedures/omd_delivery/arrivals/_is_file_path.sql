-- A path that leaves its folder would be somebody else's file.

CREATE OR REPLACE FUNCTION omd_delivery._is_file_path(
    p_path text
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(
        p_path ~ '\S'
        AND p_path !~ '[[:cntrl:]\\]'
        AND NOT string_to_array(p_path, '/') && ARRAY['', '.', '..'],
        FALSE
    );
END;

COMMENT ON FUNCTION omd_delivery._is_file_path IS
'Returns whether p_path is one below a folder: its parts are names, none of them empty, . or ... '
'FALSE for NULL. Locks: none.';
