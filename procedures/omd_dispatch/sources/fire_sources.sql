-- Who calls has a reason to: news, or the time that the last call has returned. A source ends the
-- session that reads it, or hangs in it, at worst; it is marked before, in a transaction of its
-- own, and those that have failed come last. A timeout is no longer armed after it has struck, so
-- the call ends then. A procedure that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_dispatch.fire_sources(
    INOUT p_created bigint DEFAULT NULL,
    INOUT p_wait interval DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $fire_sources$
DECLARE
    v_asked_at CONSTANT pg_catalog.timestamptz := pg_catalog.clock_timestamp()
        OPERATOR(pg_catalog.-) coalesce(p_wait, '0'::pg_catalog.interval);
    v_can_commit pg_catalog.bool;
    v_due omd_dispatch.task_source[];
    v_source omd_dispatch.task_source;
    v_created pg_catalog.int8;
    v_is_cancelled pg_catalog.bool := FALSE;
BEGIN
    CALL omd.ask_whether_to_commit(v_can_commit);
    p_created := 0;
    v_due := omd_dispatch._due_sources(v_asked_at);
    FOREACH v_source IN ARRAY v_due LOOP
        v_source := omd_dispatch._lock_source(
            v_source.family_code, v_source.task_type, v_asked_at, FALSE
        );
        IF v_can_commit AND v_source.source IS NOT NULL THEN
            PERFORM pg_catalog.set_config('synchronous_commit', 'off', TRUE);
            COMMIT;
            v_source := omd_dispatch._lock_source(
                v_source.family_code, v_source.task_type, v_asked_at, TRUE
            );
        END IF;
        CONTINUE WHEN v_source.source IS NULL;
        SELECT f.p_created, f.p_is_cancelled INTO v_created, v_is_cancelled
        FROM omd_dispatch._fire_source(v_source) AS f;
        p_created := p_created OPERATOR(pg_catalog.+) v_created;
        IF v_can_commit THEN
            COMMIT;
        END IF;
        EXIT WHEN v_is_cancelled;
    END LOOP;
    p_wait := omd_dispatch._wait_for_sources(v_asked_at);
    IF v_can_commit THEN
        COMMIT;
    END IF;
END
$fire_sources$;

COMMENT ON PROCEDURE omd_dispatch.fire_sources IS
'For programs: '
'Reads the sources of tasks and creates a task for each row whose key no live task has (10,000 for '
'a source at most; the others come in the next calls). Workers call it at news. A source that has '
'failed waits, twice as long each time, and each one rests nine times as long as it took, so that '
'reading takes at most a tenth of the time; what another session reads at this moment is passed '
'over. p_created: how many tasks were created. p_wait: for how long the caller has known of the '
'news, so that what was read since then is passed over until its time has come (NULL: not at all); '
'it returns when to call again, NULL: there is no source. The setting statement_timeout bounds it. '
'Outside a transaction block it commits after each source. An error of a source is kept in its '
'problem. Errors: OM014: the isolation level is not read committed. Locks: the sources; the keys '
'of the tasks. May be NULL: p_wait.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.fire_sources TO omd_runner, omd_admin;
