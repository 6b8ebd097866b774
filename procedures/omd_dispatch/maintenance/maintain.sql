-- Every worker does these parts each second, and fires each schedule by a call of its own
-- (fire_schedule), under a timeout. What a dead worker was at is ready again, so the sources of
-- tasks are read at once. Each part is a transaction of its own, so that no source holds up what
-- else is to be done, and none of them is long; what it locks must not stay locked. It runs with
-- the rights of the caller, who reads the sources of schedules. A procedure that commits can't set
-- a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_dispatch.maintain(
    INOUT p_reclaimed bigint DEFAULT NULL,
    INOUT p_fired bigint DEFAULT NULL,
    INOUT p_more boolean DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $maintain$
DECLARE
    c_most CONSTANT pg_catalog.int4 := 1000;
    v_schedule_code pg_catalog.text;
    v_left pg_catalog.int4 := c_most;
    v_created pg_catalog.int8;
    v_skipped pg_catalog.int8;
    v_is_cancelled pg_catalog.bool;
    v_wait pg_catalog.interval;
    v_routine pg_catalog.text;
BEGIN
    CALL omd.require_no_transaction_block('omd_dispatch.maintain');
    p_fired := 0;
    p_reclaimed := omd_dispatch._maintain_backends(c_most);
    COMMIT;
    IF p_reclaimed OPERATOR(pg_catalog.>) 0 THEN
        CALL omd_dispatch.fire_sources(v_created, v_wait);
        p_fired := v_created;
    END IF;
    FOREACH v_schedule_code IN ARRAY omd_dispatch._due_schedules(100) LOOP
        CALL omd_dispatch._fire(
            v_schedule_code, v_left, v_created, v_skipped, v_is_cancelled
        );
        COMMIT;
        p_fired := p_fired OPERATOR(pg_catalog.+) v_created;
        v_left := v_left
            OPERATOR(pg_catalog.-) (v_created OPERATOR(pg_catalog.+) v_skipped)::pg_catalog.int4;
        EXIT WHEN v_is_cancelled OR v_left OPERATOR(pg_catalog.<=) 0;
    END LOOP;
    CALL omd.maintain_rooms(v_routine);
    COMMIT;
    p_more := NOT v_is_cancelled IS TRUE AND omd_dispatch._maintain_suspensions(10000);
    p_more := p_more
        OR p_reclaimed OPERATOR(pg_catalog.>=) c_most::pg_catalog.int8
        OR omd_dispatch._due_schedules(1) OPERATOR(pg_catalog.<>) '{}'::pg_catalog._text;
    COMMIT;
END
$maintain$;

COMMENT ON PROCEDURE omd_dispatch.maintain IS
'Does one bounded round of what no worker does for itself: it removes dead backends and settles '
'their claims (1,000), fires schedules (1,000 tasks), calls what a room has entered into '
'omd.maintenance, and goes on with suspensions. Returns p_reclaimed, how many claims it has '
'settled, p_fired, how many tasks schedules (and, when it has settled a claim, sources of tasks) '
'have created, and p_more, whether there is more to do. It commits after each part and each '
'schedule, so call it outside a transaction block. What another session does at this moment is '
'passed over. When a source is cancelled, the round ends. Errors: OM014: the isolation level is '
'not read committed; OM018: it is called in a transaction block. Locks: what it changes. It may '
'take long.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.maintain TO omd_runner, omd_admin;
