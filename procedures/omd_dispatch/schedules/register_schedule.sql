-- The criteria are checked when a task is created; with a source they come from its rows.

CREATE OR REPLACE PROCEDURE omd_dispatch.register_schedule(
    p_schedule_code text,
    p_family_code text DEFAULT NULL,
    p_task_type text DEFAULT NULL,
    p_criteria jsonb DEFAULT NULL,
    p_payload jsonb DEFAULT NULL,
    p_cron text DEFAULT NULL,
    p_every interval DEFAULT NULL,
    p_time_zone text DEFAULT NULL,
    p_missed text DEFAULT NULL,
    p_priority integer DEFAULT NULL,
    p_source text DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL,
    INOUT p_next_time timestamptz DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET intervalstyle = 'postgres'
AS $register_schedule$
DECLARE
    v_old omd_dispatch.task_schedule;
    v_new omd_dispatch.task_schedule;
    v_wrong record;
BEGIN
    PERFORM omd.require_name('p_schedule_code', p_schedule_code);
    PERFORM omd_dispatch._require_task_arguments(NULL, NULL, p_priority, NULL);
    -- Two registrations of a new schedule could both insert it.
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_schedule AS s WHERE s.schedule_code = p_schedule_code
    ) THEN
        PERFORM FROM omd_dispatch.turn AS t WHERE t.part = 'SCHEDULES' FOR UPDATE;
    END IF;
    SELECT s.* INTO v_old FROM omd_dispatch.task_schedule AS s
    WHERE s.schedule_code = p_schedule_code
    FOR NO KEY UPDATE;
    v_new := v_old;
    v_new.schedule_code := p_schedule_code;
    v_new.family_code := coalesce(p_family_code, v_old.family_code);
    v_new.task_type := coalesce(p_task_type, v_old.task_type);
    v_new.criteria := coalesce(nullif(p_criteria, 'null'), v_old.criteria, '{}');
    v_new.payload := nullif(coalesce(p_payload, v_old.payload), 'null');
    v_new.cron := CASE WHEN p_every IS NULL THEN coalesce(p_cron, v_old.cron) ELSE p_cron END;
    v_new.every := CASE WHEN p_cron IS NULL THEN coalesce(p_every, v_old.every) ELSE p_every END;
    v_new.time_zone := coalesce(p_time_zone, v_old.time_zone, 'UTC');
    v_new.missed := coalesce(upper(p_missed), v_old.missed, 'ONCE');
    v_new.priority := coalesce(p_priority, v_old.priority, 5)::smallint;
    v_new.source := nullif(coalesce(p_source, v_old.source), '');
    v_new.inactive_indicator := coalesce(
        omd.require_code('inactive indicator', p_inactive_indicator),
        v_old.inactive_indicator,
        'N'
    );
    v_new.created_count := coalesce(v_old.created_count, 0);
    v_new.skipped_count := coalesce(v_old.skipped_count, 0);
    v_new.lost_count := coalesce(v_old.lost_count, 0);
    v_new.attempt := coalesce(v_old.attempt, 0);
    v_new.retry_time := NULL; -- perhaps it was mended
    v_new.is_firing := FALSE;
    PERFORM omd_dispatch._require_type(v_new.family_code, v_new.task_type);
    PERFORM omd_dispatch._require_task_arguments(v_new.criteria, NULL, NULL, NULL);
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_cron', v_new.cron, 'given where p_every is not, and only there',
            (v_new.cron IS NULL) <> (v_new.every IS NULL)
        ),
        (
            -- With a minus in it, it might step back.
            'p_every', v_new.every::text, 'from 1 second to 10 years, without negative parts',
            coalesce(
                v_new.every BETWEEN interval '1 second' AND interval '10 years'
                AND v_new.every::text NOT LIKE '%-%',
                TRUE
            )
        ),
        ('p_missed', v_new.missed, 'ONCE, ALL or SKIP', v_new.missed IN ('ONCE', 'ALL', 'SKIP')),
        (
            'p_time_zone', p_time_zone, 'a name in pg_timezone_names, as Europe/Paris',
            p_time_zone IS NULL OR omd.is_time_zone(p_time_zone)
        ),
        (
            'p_source', v_new.source, 'a view: schema.view',
            v_new.source IS NULL OR omd.quote_table(v_new.source, 'POSTGRES') IS NOT NULL
        ),
        (
            'p_next_time', p_next_time::text, 'a finite time',
            coalesce(isfinite(p_next_time), TRUE)
        )
    ) AS w (argument, value, expected, is_right)
    WHERE NOT coalesce(w.is_right, FALSE)
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong.argument,
                'value', left(coalesce(v_wrong.value, 'NULL'), 60),
                'expected', v_wrong.expected
            )
        );
    END IF;
    IF p_next_time IS NOT NULL THEN
        v_new.next_time := p_next_time;
        v_new.moved_time := NULL;
    ELSIF v_old.schedule_code IS NULL
        OR (v_old.cron, v_old.every, v_old.time_zone)
        IS DISTINCT FROM (v_new.cron, v_new.every, v_new.time_zone)
    THEN
        v_new.next_time := CASE
            WHEN v_new.cron IS NULL THEN clock_timestamp() + v_new.every
            ELSE omd_dispatch.cron_next(v_new.cron, v_new.time_zone, clock_timestamp())
        END;
        v_new.moved_time := NULL;
    ELSIF v_old.inactive_indicator = 'Y'
        AND v_new.inactive_indicator = 'N'
        AND v_new.next_time <= clock_timestamp()
    THEN
        -- Where nobody has fired meanwhile it has not moved on yet.
        IF v_new.moved_time IS DISTINCT FROM v_new.next_time THEN
            v_new.anchor_time := v_new.next_time;
        END IF;
        v_new.next_time := omd_dispatch._next_occurrence(v_new, clock_timestamp());
        v_new.moved_time := v_new.next_time;
        v_new.attempt := 0;
    END IF;
    IF v_new.source IS NULL THEN
        PERFORM omd_dispatch._raise_invalid_criterion(
            v_new.family_code,
            v_new.task_type,
            t.tasks,
            omd_dispatch._require_criteria(v_new.family_code, v_new.task_type, t.tasks)
        )
        FROM (
            SELECT jsonb_build_array(jsonb_build_object('criteria', v_new.criteria)) AS tasks
        ) AS t;
    END IF;
    INSERT INTO omd_dispatch.task_schedule SELECT v_new.*
    ON CONFLICT (schedule_code) DO UPDATE SET
        family_code = excluded.family_code,
        task_type = excluded.task_type,
        criteria = excluded.criteria,
        payload = excluded.payload,
        cron = excluded.cron,
        every = excluded.every,
        time_zone = excluded.time_zone,
        missed = excluded.missed,
        priority = excluded.priority,
        source = excluded.source,
        inactive_indicator = excluded.inactive_indicator,
        next_time = excluded.next_time,
        moved_time = excluded.moved_time,
        anchor_time = excluded.anchor_time,
        attempt = excluded.attempt,
        retry_time = excluded.retry_time,
        is_firing = excluded.is_firing;
    -- What is left of an occurrence is of the type and the source of before.
    DELETE FROM omd_dispatch.task_schedule_rest AS r
    WHERE r.schedule_code = p_schedule_code
        AND (v_new.family_code, v_new.task_type, v_new.source)
        IS DISTINCT FROM (v_old.family_code, v_old.task_type, v_old.source);
    p_next_time := v_new.next_time;
END
$register_schedule$;

COMMENT ON PROCEDURE omd_dispatch.register_schedule IS
'Registers the schedule p_schedule_code, which creates tasks, or changes it; a NULL argument keeps '
'the present value. p_family_code, p_task_type, p_criteria, p_payload, p_priority: those of its '
'tasks. p_cron: minute hour day month weekday, as cron_next takes it. p_every: instead, the time '
'between two occurrences. p_time_zone: the name of the time zone of p_cron (UTC). p_missed: '
'occurrences older than a minute give one task, for the newest (ONCE), one each (ALL) or none '
'(SKIP). p_source: a view that gives a task per row; its columns are criteria in lower case, '
'payload and priority, and it is read with the rights of the workers; '''': none. '
'p_inactive_indicator: Y: it only moves on, whatever p_missed says. p_next_time: its next '
'occurrence, which is also returned. Errors: OM005: an argument is NULL; OM006: '
'p_inactive_indicator; OM013: an argument is not allowed; OM070, OM071: family or type is unknown; '
'OM075, OM076, OM077, OM078: p_criteria. Locks: the schedule. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.register_schedule TO omd_admin;
