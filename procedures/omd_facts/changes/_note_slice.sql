-- A row of an entity that is a context of another one has an entry of its own beside that of its
-- anchor.

CREATE OR REPLACE FUNCTION omd_facts._note_slice(
    p_interface_id integer,
    p_entity_id integer,
    p_acm_id bigint,
    p_own_key jsonb,
    p_was_there boolean,
    p_is_there boolean
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_slice$
BEGIN
    INSERT INTO omd_facts.change_slice AS s (
        change_id, entity_id, acm_id, own_key, was_there, is_there
    )
    SELECT i.writer_change_id, p_entity_id, p_acm_id, p_own_key, p_was_there, p_is_there
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id AND i.writer_change_id IS NOT NULL
    ON CONFLICT (entity_id, change_id, acm_id, own_key) DO UPDATE SET is_there = excluded.is_there
    WHERE s.is_there <> excluded.is_there;
END
$note_slice$;

COMMENT ON FUNCTION omd_facts._note_slice IS
'Notes that the writer at work in the interface p_interface_id touched the row p_own_key of the '
'key p_acm_id of the entity p_entity_id, whether it existed before (p_was_there) and whether it '
'does now (p_is_there). Locks: the entry.';
