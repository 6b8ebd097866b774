-- OMD and every engine that keeps to the convention put metadata files into a folder of this name.

CREATE OR REPLACE FUNCTION omd_lake._location_of(
    p_metadata_location text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT substring(p_metadata_location FROM '^(.+)/metadata/[^/]+$');
END;

COMMENT ON FUNCTION omd_lake._location_of IS
'Returns where the table lies whose metadata file is p_metadata_location; NULL: its place does not '
'tell. No locks.';
