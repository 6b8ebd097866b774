-- What a run of kind SQL or JOB is to fill is known to process control itself.

CREATE OR REPLACE FUNCTION omd.drop_return(
    p_recall_id bigint,
    p_position integer,
    p_reason text
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $drop_return$
DECLARE
    v_return omd.module_return;
BEGIN
    SELECT r.* INTO v_return
    FROM omd.module_return AS r
    WHERE r.recall_id = p_recall_id AND r.position = p_position
    FOR UPDATE;
    IF v_return.ended_datetime IS NOT NULL THEN
        RETURN CASE WHEN v_return.drop_reason IS NULL THEN 'DONE' ELSE 'DROPPED' END;
    END IF;
    PERFORM omd.settle_return(p_recall_id, p_position, NULL, TRUE, p_drop_reason => p_reason);
    RETURN 'OPEN';
END
$drop_return$;

COMMENT ON FUNCTION omd.drop_return IS
'For rooms: Drops the entry p_position of the recall p_recall_id, which a run is to fill, because '
'of p_reason, and returns what it was: OPEN; DONE or DROPPED, then nothing happens. Locks: the '
'entry.';
