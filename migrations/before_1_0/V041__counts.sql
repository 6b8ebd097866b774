-- V041: delivery: what a count is stands in the room omd now, as omd.is_count, since decision asks
-- too. Applied once. A call from before goes on with the former function.

DO $do$
BEGIN
    IF to_regproc('omd_delivery._is_count') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_delivery._is_count IS 'Retired.';
    END IF;
END
$do$;
