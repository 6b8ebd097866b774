-- Rooms know a source and no interface. No run of theirs that stands has read what a recall took
-- back, wherever its next block begins, so none is shown the keys that were only in that.

CREATE OR REPLACE FUNCTION omd_facts.show_block(
    p_source_code text,
    p_after bigint,
    p_upto bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $show_block$
BEGIN
    CALL omd_facts.show_changes(substr(p_source_code, 7), p_after, p_upto);
    PERFORM set_config('omd_facts.undone_' || substr(p_source_code, 7), '0', TRUE);
END
$show_block$;

COMMENT ON FUNCTION omd_facts.show_block IS
'For rooms: Shows a block of the source p_source_code, as show_changes does, but without the '
'keys of recalls. Errors: OM005, OM013, OM031, OM036, OM158, OM251, OM254. Locks: none.';
