-- Process control calls it by its name in omd.before_purge.

CREATE OR REPLACE FUNCTION omd_event._before_purge()
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $before_purge$
DECLARE
    v_published bigint;
    v_newest bigint;
BEGIN
    CALL omd_event.publish(10000, v_published, v_newest);
    IF v_published IS NOT NULL
        AND EXISTS (
            SELECT FROM omd_event.setting AS s WHERE s.counted_number < s.event_number
        )
    THEN
        PERFORM omd_event._count_published();
    END IF;
    RETURN v_published;
END
$before_purge$;

COMMENT ON FUNCTION omd_event._before_purge IS
'Publishes before history is purged, and returns how many events it published; 0: nothing is '
'left; NULL: another session publishes. Locks: the row of omd_event.setting.';
