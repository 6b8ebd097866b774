-- V194: omd._rollback_plan says at once what was asked piece by piece. Applied once.

-- The former stay for the calls that are on their way: dropped, they would be missed.

DO $do$
DECLARE
    v_former regprocedure;
BEGIN
    FOR v_former IN
        SELECT f.signature
        FROM (
            VALUES
            (to_regprocedure('omd._rollback_statements(integer, bigint[])')),
            (to_regprocedure('omd._rollback_checks(bigint)')),
            (to_regprocedure('omd._undo_routine(integer)'))
        ) AS f (signature)
        WHERE f.signature IS NOT NULL
    LOOP
        EXECUTE format('COMMENT ON FUNCTION %s IS ''Retired.''', v_former);
    END LOOP;
END
$do$;
