-- A room that is misspelled must not look like one that had nothing to delete.

CREATE OR REPLACE FUNCTION omd._require_purge(
    p_keep interval,
    p_room text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_purge$
DECLARE
    v_rooms text;
BEGIN
    SELECT string_agg(DISTINCT s.schema_name, ', ' ORDER BY s.schema_name) INTO v_rooms
    FROM omd.purge_step AS s;
    IF NOT coalesce(p_room = ANY(string_to_array(v_rooms, ', ')), TRUE) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_room', 'value', left(p_room, 60), 'expected', 'one of ' || v_rooms
            )
        );
    ELSIF p_keep IS NULL AND NOT EXISTS (
        SELECT FROM omd.purge_step AS s
        WHERE NOT s.needs_keep AND coalesce(s.schema_name = p_room, TRUE)
    ) THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_keep'));
    END IF;
END
$require_purge$;

COMMENT ON FUNCTION omd._require_purge IS
'Refuses a p_room that has no step in omd.purge_step (OM013), and a p_keep that is NULL where each '
'step needs one (OM005). Locks: none.';
GRANT EXECUTE ON FUNCTION omd._require_purge TO omd_admin;
