-- The folder has been moved when this is called. Whoever dies in between leaves it TAKEN, and the
-- next one finds it moved. A folder that can't be moved is done all the same, and says so: the
-- deliveries after it must not wait for it.

CREATE OR REPLACE PROCEDURE omd_delivery.finish_arrival(
    p_delivery_id bigint,
    p_moved_to text DEFAULT NULL,
    p_problem text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $finish_arrival$
DECLARE
    v_delivery omd_delivery.delivery;
    v_arrival omd_delivery.arrival;
BEGIN
    v_delivery := omd_delivery._hold_delivery(p_delivery_id);
    PERFORM omd_delivery._hold_location(v_delivery.agreement_id);
    SELECT r.* INTO v_arrival
    FROM omd_delivery.arrival AS r
    WHERE r.delivery_id = p_delivery_id;
    IF NOT FOUND THEN
        PERFORM omd_delivery._raise_argument(
            'p_delivery_id', p_delivery_id::text, 'it was not made of a folder'
        );
    ELSIF v_arrival.arrival_status = 'DONE' THEN
        RETURN;
    ELSIF v_arrival.arrival_status <> 'TAKEN'
        OR v_delivery.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED')
    THEN
        PERFORM omd.raise_error(
            'OM137',
            jsonb_build_object(
                'arrival_id', v_arrival.arrival_id,
                'arrival_status', v_arrival.arrival_status,
                'action', 'be finished',
                'next_command', format('omd show delivery:%s', p_delivery_id)
            )
        );
    ELSIF p_moved_to IS NOT NULL AND NOT omd_delivery._is_file_path(p_moved_to) THEN
        PERFORM omd_delivery._raise_argument(
            'p_moved_to', p_moved_to, 'it must be a path below the location'
        );
    END IF;
    UPDATE omd_delivery.arrival AS r SET
        arrival_status = 'DONE',
        moved_to = p_moved_to,
        problem = left(split_part(p_problem, E'\n', 1), 1000)
    WHERE r.arrival_id = v_arrival.arrival_id;
    IF p_moved_to IS NOT NULL THEN
        PERFORM omd_delivery._move_files(p_delivery_id, v_arrival.folder, p_moved_to);
    END IF;
END
$finish_arrival$;

COMMENT ON PROCEDURE omd_delivery.finish_arrival IS
'For the driver: '
'Makes the arrival of which the accepted delivery p_delivery_id was made DONE, when its folder '
'was moved to p_moved_to, a path from the location, where its files are from now on, or why it '
'was not, p_problem. A second call changes nothing. Errors: OM005: p_delivery_id is NULL; OM014: '
'the isolation level is not read committed; OM034: there is no such delivery; OM036: it was not '
'made of a folder, or p_moved_to is no path below the location; OM137: the arrival is in another '
'status than TAKEN and DONE, or its delivery is not decided. Locks: the interface, the location, '
'the arrival. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.finish_arrival TO omd_runner;
