-- A block is whole changes. It never ends between a change and its undo: what was read there is
-- gone, and a correction at the same T would be read twice.

CREATE OR REPLACE FUNCTION omd_facts.block_end(
    p_source_code text,
    p_after bigint,
    p_max_keys bigint,
    OUT p_pos timestamptz,
    OUT p_id bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_end$
DECLARE
    v_interface omd_facts.interface;
    v_change record;
    v_keys bigint := 0::bigint;
    v_undo bigint;
BEGIN
    SELECT i.* INTO v_interface FROM omd_facts.interface AS i
    WHERE 'facts.' || i.interface_code = p_source_code;
    FOR v_change IN
        SELECT c.change_id, c.change_datetime, c.key_count, c.undone_by_change_id
        FROM omd_facts.change AS c
        WHERE c.interface_id = v_interface.interface_id AND c.change_id > coalesce(p_after, 0)
        ORDER BY c.change_id
    LOOP
        v_keys := v_keys + v_change.key_count;
        -- At least one change; all until the undo of one of them; from the beginning all whose keys
        -- are purged.
        EXIT WHEN p_id IS NOT NULL
            AND v_keys > p_max_keys
            AND p_id >= coalesce(v_undo, 0)
            AND (coalesce(p_after, 0) > 0 OR p_id >= v_interface.purged_change_id);
        p_pos := v_change.change_datetime;
        p_id := v_change.change_id;
        v_undo := greatest(v_undo, v_change.undone_by_change_id);
    END LOOP;
    -- One of before the block may have been undone in what is still to come.
    RETURN;
END
$block_end$;

COMMENT ON FUNCTION omd_facts.block_end IS
'For rooms: Returns where a block of changes of the source p_source_code ends that begins after '
'the change p_after (0 or NULL: at the beginning) and has p_max_keys keys at most (NULL: any '
'number): the time p_pos and the number p_id of its last change; NULL when there is none. It is '
'one change at least, and goes to the undo of each change in it. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts.block_end FROM PUBLIC;
