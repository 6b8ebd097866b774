-- When the offset goes back to before a block that is to be taken again, the next steps read its
-- rows as new ones, and taken again they would come twice.

CREATE OR REPLACE FUNCTION omd_lineage._forget_blocks()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_blocks$
BEGIN
    UPDATE omd_lineage.restatement AS r SET
        block_start = NULL,
        block_end = NULL,
        former_array = NULL
    WHERE r.topic_id = new.topic_id AND r.block_end > new.last;
    IF FOUND THEN
        new.undone_from := NULL;
    END IF;
    PERFORM omd.drop_windows(t.module_id, (new.last).pos, (new.last).id)
    FROM omd_lineage.topic AS t
    WHERE t.topic_id = new.topic_id AND t.processor <> 'RELOAD';
    PERFORM omd.note_passed(t.module_id, NULL)
    FROM omd_lineage.topic AS t
    WHERE t.topic_id = new.topic_id;
    RETURN new;
END
$forget_blocks$;

COMMENT ON FUNCTION omd_lineage._forget_blocks IS
'Trigger: forgets the planned block of a range that is taken again when the offset goes back to '
'before its end. Locks: the ranges of the topic.';
