-- The caller holds the offset. A block comes again as it was, so that what reads by it finds the
-- same rows. One that ends between a change of facts and its undo can't: the offset goes back to
-- its start, and the next plan goes at least to the undo.

CREATE OR REPLACE FUNCTION omd_lineage._claim_return(
    p_topic_id integer,
    OUT p_is_returned boolean,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_return$
DECLARE
    v_return CONSTANT record := omd_lineage._next_return(p_topic_id);
BEGIN
    p_is_returned := v_return.p_former_array IS NOT NULL AND v_return.p_stands;
    IF p_is_returned THEN
        p_start_pos := v_return.p_start_pos;
        p_start_id := v_return.p_start_id;
        p_end_pos := v_return.p_end_pos;
        p_end_id := v_return.p_end_id;
    ELSIF NOT v_return.p_stands THEN
        UPDATE omd_lineage.offsets AS o SET
            last = ROW(v_return.p_start_pos, v_return.p_start_id),
            is_whole = FALSE,
            next = NULL,
            quiet_start = NULL,
            attempts = 0
        WHERE o.topic_id = p_topic_id;
    END IF;
END
$claim_return$;

COMMENT ON FUNCTION omd_lineage._claim_return IS
'Returns the block (p_start_pos and p_start_id, p_end_pos and p_end_id] that the next step of the '
'topic p_topic_id takes again after a recall, if p_is_returned. Where it can not come as it was, '
'the offset has gone back instead. Locks: the offset.';
