-- What the run wrote goes with the rollback of the next begin of each Module, also what a program
-- writes that has not heard yet that its run was ended.

CREATE OR REPLACE FUNCTION omd_delivery._end_run(
    p_delivery omd_delivery.delivery,
    p_event_detail text,
    p_event_return_code_details text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_run$
BEGIN
    IF p_delivery.is_running THEN
        -- Who writes rows of the run holds the delivery, and takes the instance after it.
        PERFORM FROM omd_delivery.delivery AS d
        WHERE d.delivery_id = p_delivery.delivery_id
        FOR UPDATE;
        BEGIN
            CALL omd.batch_failure(
                p_delivery.batch_instance_id, p_event_detail, p_event_return_code_details
            );
        EXCEPTION
            WHEN SQLSTATE 'OM101' THEN
                -- Somebody has ended the Batch Instance by hand, or it was declared dead.
                NULL;
        END;
        UPDATE omd_delivery.delivery AS d SET is_running = FALSE
        WHERE d.delivery_id = p_delivery.delivery_id;
    END IF;
END
$end_run$;

COMMENT ON FUNCTION omd_delivery._end_run IS
'Ends the run of p_delivery, if there is one, as failed, with the event p_event_detail and the '
'code p_event_return_code_details. Locks: the delivery, after those who write rows of it; what '
'executes in the Batch Instance, the Batch Instance.';
