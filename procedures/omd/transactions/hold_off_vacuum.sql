-- Who waits for ACCESS EXCLUSIVE has all others wait behind him, so he waits a moment only; but the
-- server cancels an autovacuum only for who has waited for it for deadlock_timeout. This lock is in
-- the way of vacuums alone.

CREATE OR REPLACE FUNCTION omd.hold_off_vacuum(
    p_table regclass
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $hold_off_vacuum$
DECLARE
    v_former CONSTANT text := current_setting('lock_timeout');
    v_patience CONSTANT interval
        := current_setting('deadlock_timeout')::interval + interval '500 milliseconds';
BEGIN
    PERFORM set_config('lock_timeout', concat(extract(EPOCH FROM v_patience), 's'), TRUE);
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', p_table);
    PERFORM set_config('lock_timeout', v_former, TRUE);
END
$hold_off_vacuum$;

COMMENT ON FUNCTION omd.hold_off_vacuum IS
'For rooms: Ends an autovacuum of p_table, and lets none begin until the transaction ends; call it '
'before a lock that is waited for shortly. Errors: 55P03, a vacuum that somebody has begun, or one '
'against wraparound, holds the table for longer than deadlock_timeout and half a second. Locks: '
'the table, SHARE UPDATE EXCLUSIVE, which stops no load.';
