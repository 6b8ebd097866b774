-- Nothing reads staged data before somebody says that all of it is there.

CREATE OR REPLACE PROCEDURE omd_delivery.report_loaded(
    p_delivery_id bigint,
    INOUT p_delivery_status text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $report_loaded$
BEGIN
    PERFORM omd_delivery._require_event(
        omd_delivery._hold_delivery(p_delivery_id), 'report_loaded', 'be reported as loaded'
    );
    PERFORM omd_delivery._move(p_delivery_id, 'LOADED', 'report_loaded', NULL);
    p_delivery_status := 'LOADED';
END
$report_loaded$;

COMMENT ON PROCEDURE omd_delivery.report_loaded IS
'For programs: '
'Reports that the data of the delivery p_delivery_id is complete. p_delivery_status is LOADED '
'then. Errors: OM005: p_delivery_id is NULL; OM014: the isolation level is not read committed; '
'OM034: there is no such delivery; OM130: it is in another status than RECEIVED. Locks: the '
'interface, the delivery. Call again when the answer was lost; OM130 with delivery_status LOADED '
'says that it is done.';
GRANT EXECUTE ON PROCEDURE omd_delivery.report_loaded TO omd_runner;
