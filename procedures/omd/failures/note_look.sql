-- Work that is offered, and is none when it is taken, would be offered again at once. What was
-- there before the look can't make more of it; news does, so the view of ready work ends the pause
-- then. A pause after a failure is not shortened.

CREATE OR REPLACE FUNCTION omd.note_look(
    p_module_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_look$
DECLARE
    v_now CONSTANT timestamptz := clock_timestamp();
    v_limit CONSTANT interval := interval '30 seconds';
BEGIN
    INSERT INTO omd.module_state AS s (
        module_id, failures, looks, not_before, looked_datetime, last_claim_token
    )
    SELECT
        m.module_id,
        0,
        1,
        v_now + omd._pause_after(interval '1 second', v_limit, 1),
        v_now,
        omd._claim_of_session()
    FROM omd.module AS m
    WHERE m.module_id = p_module_id
    ON CONFLICT (module_id) DO UPDATE SET
        looks = s.looks + 1,
        not_before = v_now + omd._pause_after(interval '1 second', v_limit, s.looks + 1),
        looked_datetime = v_now,
        last_claim_token = omd._claim_of_session()
    WHERE s.looked_datetime IS NOT NULL OR s.not_before IS NULL OR s.not_before <= v_now;
END
$note_look$;

COMMENT ON FUNCTION omd.note_look IS
'For rooms: Records that the Module p_module_id was ready, and had nothing to do when it was begun:'
' its work waits a second, twice as long each time, 30 seconds at most, or until there is news. '
'Locks: the state of the Module.';
