-- In a run the time of the delivery stands for it; in psql there is none but now.

CREATE OR REPLACE FUNCTION omd_delivery.delivery_date()
RETURNS date
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date;
END;

COMMENT ON FUNCTION omd_delivery.delivery_date IS
'For rooms: '
'Returns the present date in UTC. In the check of a model it is that of the delivery: of its '
'snapshot_datetime. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery.delivery_date TO omd_reader, omd_runner, omd_admin;
