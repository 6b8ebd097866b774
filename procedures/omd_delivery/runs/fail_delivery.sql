-- A run that says that it failed need not be waited for until its leases expire.

CREATE OR REPLACE PROCEDURE omd_delivery.fail_delivery(
    p_delivery_id bigint,
    p_attempt integer,
    p_event_detail text DEFAULT NULL,
    p_event_return_code_details text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_delivery$
DECLARE
    v_delivery omd_delivery.delivery;
BEGIN
    v_delivery := omd_delivery._hold_attempt(p_delivery_id, p_attempt);
    PERFORM omd_delivery._require_event(v_delivery, 'begin_delivery', 'fail');
    PERFORM omd_delivery._end_run(v_delivery, p_event_detail, p_event_return_code_details);
END
$fail_delivery$;

COMMENT ON PROCEDURE omd_delivery.fail_delivery IS
'For programs: '
'Ends the run p_attempt of the delivery p_delivery_id as failed, with the event p_event_detail '
'and the code p_event_return_code_details. The delivery keeps its status, and begin_delivery '
'resumes it. A second call changes nothing. Errors: OM005: an argument is NULL; OM014: the '
'isolation level is not read committed; OM034: there is no such delivery; OM130: the delivery is '
'in another status than LOADED and VALIDATED; OM132: p_attempt is not its newest run. Locks: the '
'interface, the instances. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.fail_delivery TO omd_runner;
