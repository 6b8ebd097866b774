-- Whoever plans a block goes to the undo (plan_changes). One that was planned before the undo ends
-- between the change and it.

CREATE OR REPLACE FUNCTION omd_facts.may_end(
    p_source_code text,
    p_id bigint
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT NOT EXISTS (
        SELECT
        FROM omd_facts.interface AS i
        INNER JOIN omd_facts.change AS c ON i.interface_id = c.interface_id
        WHERE
            'facts.' || i.interface_code = p_source_code
            AND c.undone_by_change_id > p_id
            AND c.change_id <= p_id
            -- Whoever had read what a recall undid was taken back too, and reads it without.
            AND NOT EXISTS (
                SELECT FROM omd_facts.change AS u
                WHERE u.change_id = c.undone_by_change_id AND u.is_recall
            )
    );
END;

COMMENT ON FUNCTION omd_facts.may_end IS
'For rooms: Returns whether a block of changes of the source p_source_code may end at the change '
'p_id: no change up to there was undone after it, but by a recall. Ask again before the commit of '
'what was made of the block. Locks: none.';
