-- Each run belongs to the room that takes it back: that of the most special pattern.

CREATE OR REPLACE FUNCTION omd_provenance._room_of(
    p_module_kind_code text,
    p_module_code text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT h.room
    FROM unnest(ARRAY['TAKE_BACK', 'TAKE_BACK_OWN']) AS k (hook)
    CROSS JOIN LATERAL omd.room_hooks(k.hook) AS h
    WHERE p_module_kind_code || ' ' || p_module_code LIKE h.for_code
    ORDER BY length(h.for_code) DESC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd_provenance._room_of IS
'Returns the schema of the room that takes back a run of the Module p_module_code of the kind '
'p_module_kind_code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._room_of TO omd_admin;
