-- V044: a rollback is refused by omd._refuse_rollback, which also says the way out; a tolerance
-- covers the hour by which the clocks go forward. Applied once. A call from before goes on with the
-- former function.

DO $do$
BEGIN
    IF to_regproc('omd._raise_still_referenced') IS NOT NULL THEN
        COMMENT ON ROUTINE omd._raise_still_referenced IS 'Retired.';
    END IF;
END
$do$;

COMMENT ON COLUMN omd.frequency.frequency_tolerance IS
'How much earlier than its interval a start may be. NULL: 5 % of the interval, at most 70 minutes.';
