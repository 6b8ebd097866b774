-- Each run belongs to the room that takes it back. Runs of CRUD are facts that people wrote.

CREATE OR REPLACE FUNCTION omd_provenance._room_of(
    p_module_kind_code text,
    p_module_code text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_module_kind_code = 'TOPIC' THEN 'LINEAGE'
            WHEN p_module_kind_code = 'STAGE' THEN 'DECISION'
            WHEN p_module_kind_code = 'FACTS' THEN 'FACTS'
            WHEN p_module_kind_code = 'PART' AND starts_with(p_module_code, 'lvl.') THEN 'DELIVERY'
            WHEN p_module_kind_code = 'PART' AND starts_with(p_module_code, 'gdal.') THEN 'FACTS'
            ELSE 'CONTROL'
        END;
END;

COMMENT ON FUNCTION omd_provenance._room_of IS
'Returns the room that takes back a run of the Module p_module_code of the kind '
'p_module_kind_code: CONTROL, LINEAGE, DECISION, FACTS or DELIVERY. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._room_of TO omd_admin;
