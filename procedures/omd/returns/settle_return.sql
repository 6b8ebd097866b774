-- Who fills an entry differs by kind; that it is open, filled or dropped is one row. An entry that
-- was dropped never opens again.

CREATE OR REPLACE FUNCTION omd.settle_return(
    p_recall_id bigint,
    p_position integer,
    p_delivery_id bigint DEFAULT NULL,
    p_is_ended boolean DEFAULT FALSE,
    p_is_by_hand boolean DEFAULT NULL,
    p_problem text DEFAULT NULL,
    p_drop_reason text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_return$
BEGIN
    UPDATE omd.module_return AS r SET
        delivery_id = p_delivery_id,
        ended_datetime = CASE WHEN p_is_ended THEN clock_timestamp() END,
        is_by_hand = coalesce(p_is_by_hand, r.is_by_hand),
        problem = left(split_part(p_problem, E'\n', 1), 1000),
        drop_reason = p_drop_reason
    WHERE r.recall_id = p_recall_id AND r.position = p_position AND r.drop_reason IS NULL;
END
$settle_return$;

COMMENT ON FUNCTION omd.settle_return IS
'For rooms: Says of the entry p_position of what the recall p_recall_id wants to come again: '
'p_delivery_id is to fill it, or has, when p_is_ended; NULL: none does. p_is_by_hand: a person '
'must bring it; NULL: as before. p_problem: why it can''t come by itself. p_drop_reason: it will '
'not come. An entry that was dropped stays dropped. Locks: the entry.';
