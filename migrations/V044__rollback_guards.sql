-- V044: a rollback is refused by omd._refuse_rollback, which also says the way out. Applied once. A
-- call from before goes on with the former function.

DO $do$
BEGIN
    IF to_regproc('omd._raise_still_referenced') IS NOT NULL THEN
        COMMENT ON ROUTINE omd._raise_still_referenced IS 'Retired.';
    END IF;
END
$do$;
