-- Days are walked one by one, times only of a day that matches. A change of the clocks can bring an
-- instant of a day behind the first one of the next day, so the day after is looked at too. Where
-- the clocks do not change, a local time is one instant: minutes of a day are many to look at.

CREATE OR REPLACE FUNCTION omd_dispatch.cron_next(
    p_cron text,
    p_time_zone text DEFAULT 'UTC',
    p_after timestamptz DEFAULT now()
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $cron_next$
DECLARE
    v_fields text[];
    v_minutes integer[];
    v_hours integer[];
    v_days integer[];
    v_months integer[];
    v_weekdays integer[];
    v_is_both boolean;
    v_is_day boolean;
    v_is_weekday boolean;
    v_local timestamp;
    v_day date;
    v_last date;
    v_first timestamptz;
    v_next timestamptz;
    v_wrong record;
BEGIN
    v_fields := regexp_split_to_array(
        CASE lower(btrim(p_cron))
            WHEN '@hourly' THEN '0 * * * *'
            WHEN '@daily' THEN '0 0 * * *'
            WHEN '@midnight' THEN '0 0 * * *'
            WHEN '@weekly' THEN '0 0 * * 0'
            WHEN '@monthly' THEN '0 0 1 * *'
            WHEN '@yearly' THEN '0 0 1 1 *'
            WHEN '@annually' THEN '0 0 1 1 *'
            ELSE btrim(p_cron)
        END,
        '\s+'
    );
    v_minutes := omd_dispatch._cron_field(v_fields[1], 0, 59);
    v_hours := omd_dispatch._cron_field(v_fields[2], 0, 23);
    v_days := omd_dispatch._cron_field(v_fields[3], 1, 31);
    v_months := omd_dispatch._cron_field(
        v_fields[4], 1, 12,
        '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}'
    );
    v_weekdays := omd_dispatch._cron_field(v_fields[5], 0, 7, '{SUN,MON,TUE,WED,THU,FRI,SAT}');
    v_is_both := v_fields[3] LIKE '*%' OR v_fields[5] LIKE '*%';

    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        ('p_cron', p_cron, NULL, p_cron IS NOT NULL),
        ('p_time_zone', p_time_zone, NULL, p_time_zone IS NOT NULL),
        ('p_after', p_after::text, NULL, p_after IS NOT NULL),
        (
            'p_cron', p_cron, 'five fields: minute hour day month weekday',
            cardinality(v_fields) = 5
        ),
        ('p_cron', p_cron, 'a minute from 0 to 59', v_minutes IS NOT NULL),
        ('p_cron', p_cron, 'an hour from 0 to 23', v_hours IS NOT NULL),
        ('p_cron', p_cron, 'a day from 1 to 31', v_days IS NOT NULL),
        ('p_cron', p_cron, 'a month from 1 to 12, or JAN to DEC', v_months IS NOT NULL),
        (
            'p_cron', p_cron, 'a weekday from 0 to 7, or SUN to SAT',
            v_weekdays IS NOT NULL
        ),
        (
            'p_time_zone', p_time_zone, 'a name in pg_timezone_names',
            omd_dispatch._is_time_zone(p_time_zone)
        ),
        (
            'p_after', p_after::text, 'a time from the year 1 to 9999',
            p_after BETWEEN '0001-01-01' AND '9999-12-31'
        )
    ) AS w (argument, value, expected, is_right)
    WHERE NOT coalesce(w.is_right, FALSE)
    LIMIT 1;
    IF FOUND AND v_wrong.expected IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', v_wrong.argument));
    ELSIF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong.argument,
                'value', left(v_wrong.value, 60),
                'expected', v_wrong.expected
            )
        );
    END IF;

    v_local := p_after AT TIME ZONE p_time_zone;
    v_day := v_local::date - 1;
    v_last := v_day + 3654;
    WHILE v_day <= v_last LOOP
        v_is_day := extract(DAY FROM v_day) = ANY(v_days);
        v_is_weekday := extract(DOW FROM v_day) = ANY(v_weekdays)
            OR extract(ISODOW FROM v_day) = ANY(v_weekdays);
        IF extract(MONTH FROM v_day) = ANY(v_months)
            AND ((v_is_day AND v_is_weekday) OR ((v_is_day OR v_is_weekday) AND NOT v_is_both))
        THEN
            IF (v_day + 3)::timestamp AT TIME ZONE p_time_zone
                - (v_day - 2)::timestamp AT TIME ZONE p_time_zone = interval '5 days'
            THEN
                SELECT min(v_day + make_time(h.hour, m.minute, 0)) AT TIME ZONE p_time_zone
                INTO v_next
                FROM unnest(v_hours) AS h (hour)
                CROSS JOIN unnest(v_minutes) AS m (minute)
                WHERE v_day + make_time(h.hour, m.minute, 0) > v_local;
            ELSE
                SELECT min(i.instant) INTO v_next
                FROM unnest(v_hours) AS h (hour)
                CROSS JOIN unnest(v_minutes) AS m (minute)
                CROSS JOIN LATERAL omd_dispatch._cron_instants(
                    v_day + make_time(h.hour, m.minute, 0), p_time_zone, v_fields[2] LIKE '*%'
                ) AS i (instant)
                WHERE i.instant > p_after;
            END IF;
            IF v_next IS NOT NULL THEN
                v_last := least(v_last, v_day + 1);
                v_first := least(v_first, v_next);
            END IF;
        END IF;
        v_day := v_day + 1;
    END LOOP;
    IF v_first IS NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_cron',
                'value', left(p_cron, 60),
                'expected', 'a time that occurs within 10 years'
            )
        );
    END IF;
    RETURN v_first;
END
$cron_next$;

COMMENT ON FUNCTION omd_dispatch.cron_next IS
'Returns the first occurrence of p_cron after p_after in p_time_zone. p_cron: minute hour day '
'month weekday, of *, numbers, names (JAN to DEC, SUN to SAT), lists, ranges and steps (*/5, '
'1-9/2), or @hourly, @daily, @weekly, @monthly, @yearly; if day or weekday begins with * both must'
' match, else one of them. A local time that does not exist occurs at the end of the gap, and a '
'repeated one the first time only; where the hour begins with *, the former does not occur and the'
' latter does so twice. Errors: OM005: an argument is NULL; OM013: one is not allowed, or p_cron '
'does not occur within 10 years. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch.cron_next TO omd_reader;
