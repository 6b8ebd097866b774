-- For some tables only a person or another program knows how far they have come. _set_offset writes
-- with its own rights; this procedure looks into the destination with the rights of the caller.

CREATE OR REPLACE PROCEDURE omd_lineage.set_offset(
    p_topic text,
    p_pos timestamptz,
    p_id bigint DEFAULT 0
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $set_offset$
DECLARE
    v_former CONSTANT omd_lineage.row_position := omd_lineage._set_offset(p_topic, p_pos, p_id);
BEGIN
    PERFORM omd_lineage._warn_of_rows_again(
        omd_lineage._require_topic(p_topic), v_former, ROW(p_pos, p_id)
    );
END
$set_offset$;

COMMENT ON PROCEDURE omd_lineage.set_offset IS
'Sets the offset of the topic p_topic to (p_pos, p_id), forward or back. A source with HAND is '
'then complete up to this position; a destination continues from it. Where the position is the id '
'alone, p_pos is -infinity. A warning tells that rows are read again which the destination may '
'hold. Errors: OM005: an argument is NULL; OM013: p_pos is a time there; OM015: p_topic is not '
'registered; OM208: the topic is held, a block is planned, or a step that succeeded waits for its '
'rollback. Locks: the offset. See docs/explanation/lineage.md. Call again when the answer was '
'lost.';
GRANT EXECUTE ON PROCEDURE omd_lineage.set_offset TO omd_runner, omd_admin;
