-- V114: delivery: the deliveries of runs are found by one routine. Applied once.

DO $do$
BEGIN
    IF to_regprocedure('omd_delivery.deliveries_of(bigint[])') IS NOT NULL THEN
        ALTER FUNCTION omd_delivery.deliveries_of RENAME TO _former_deliveries_of;
        COMMENT ON FUNCTION omd_delivery._former_deliveries_of IS 'Retired.';
    END IF;
END
$do$;
