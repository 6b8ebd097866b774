-- Writes of one transaction to a key are one entry: what it was before the first, and after the
-- last.

CREATE OR REPLACE FUNCTION omd_facts._note_key(
    p_interface_id integer,
    p_entity_id integer,
    p_acm_id bigint,
    p_was_there boolean,
    p_is_there boolean
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_key$
BEGIN
    INSERT INTO omd_facts.change_key AS k (change_id, entity_id, acm_id, was_there, is_there)
    SELECT i.writer_change_id, p_entity_id, p_acm_id, p_was_there, p_is_there
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id AND i.writer_change_id IS NOT NULL
    ON CONFLICT (entity_id, change_id, acm_id) DO UPDATE SET is_there = excluded.is_there
    WHERE k.is_there <> excluded.is_there;
END
$note_key$;

COMMENT ON FUNCTION omd_facts._note_key IS
'Notes that the writer at work in the interface p_interface_id touched the key p_acm_id of the '
'entity p_entity_id, whether it existed before (p_was_there) and whether it does now (p_is_there). '
'Locks: the entry.';
