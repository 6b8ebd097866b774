-- V183: facts put an item back by requeue_alone, and nothing calls requeue_item. Applied once.

DO $do$
BEGIN
    IF to_regprocedure('omd_delivery.requeue_item(bigint)') IS NOT NULL THEN
        COMMENT ON FUNCTION omd_delivery.requeue_item(bigint) IS 'Retired.';
    END IF;
END
$do$;
