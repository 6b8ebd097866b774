-- A run that was undone and that nobody has read is looked at once more when all that began before
-- its undo have ended, and never again: else each look at what is stale would look at all that ever
-- failed.

CREATE OR REPLACE FUNCTION omd_provenance.forget_unread()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_unread$
DECLARE
    v_oldest bigint;
    v_id bigint;
BEGIN
    PERFORM omd.require_maintenance('omd_provenance.forget_unread');
    SELECT min(o.module_instance_id) INTO v_oldest
    FROM omd.open_instance AS o
    WHERE o.execution_status_code = 'E';
    FOR v_id IN
        SELECT u.module_instance_id
        FROM omd.ledger_undone AS u
        WHERE NOT u.is_forgotten AND u.undone_upto < coalesce(v_oldest, 9223372036854775807)
        ORDER BY u.looked_datetime
        LIMIT 200
        FOR UPDATE SKIP LOCKED
    LOOP
        UPDATE omd.ledger_undone AS u SET
            looked_datetime = clock_timestamp(),
            is_forgotten = NOT EXISTS (SELECT FROM omd_provenance._readers_of_run(v_id, FALSE))
        WHERE u.module_instance_id = v_id;
    END LOOP;
END
$forget_unread$;

COMMENT ON FUNCTION omd_provenance.forget_unread IS
'For rooms: forgets undone runs that no run that stands has read. omd.maintain_rooms calls it. '
'Errors: OM018: another calls it. Locks: the rows of these runs; it passes over those that others '
'hold.';
GRANT EXECUTE ON FUNCTION omd_provenance.forget_unread TO omd_runner, omd_admin;
