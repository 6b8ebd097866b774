-- A source of a type is not a schedule: it has no occurrences that could be missed, and is read
-- whenever there may be news.

CREATE OR REPLACE PROCEDURE omd_dispatch.register_source(
    p_family_code text,
    p_task_type text,
    p_source text DEFAULT NULL,
    p_every interval DEFAULT interval '5 seconds',
    p_listen text[] DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET intervalstyle = 'postgres'
AS $register_source$
DECLARE
    v_source omd_dispatch.task_source;
    v_wrong record;
BEGIN
    PERFORM omd_dispatch._require_type(p_family_code, p_task_type);
    -- Two registrations of a new source could both insert it.
    PERFORM FROM omd_dispatch.turn AS t WHERE t.part = 'SOURCES' FOR UPDATE;
    SELECT s.* INTO v_source
    FROM omd_dispatch.task_source AS s
    WHERE s.family_code = p_family_code AND s.task_type = p_task_type
    FOR UPDATE;
    IF p_source = '' THEN
        DELETE FROM omd_dispatch.task_source AS s
        WHERE s.family_code = p_family_code AND s.task_type = p_task_type;
        RETURN;
    END IF;
    v_source.source := coalesce(p_source, v_source.source);
    v_source.every := coalesce(p_every, v_source.every, interval '5 seconds');
    v_source.listen := coalesce(p_listen, v_source.listen, '{}');
    v_source.inactive_indicator := coalesce(
        omd.require_code('inactive indicator', p_inactive_indicator),
        v_source.inactive_indicator,
        'N'
    );
    IF v_source.source IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_source'));
    END IF;
    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_source', v_source.source, 'a view: schema.view',
            omd.quote_table(v_source.source, 'POSTGRES') IS NOT NULL
        ),
        (
            'p_every', v_source.every::text, 'from 1 second to 10 years, without negative parts',
            v_source.every BETWEEN interval '1 second' AND interval '10 years'
            AND v_source.every::text NOT LIKE '%-%'
        ),
        (
            'p_listen', v_source.listen::text, 'names of channels, of 1 to 63 bytes',
            NOT EXISTS (
                SELECT FROM unnest(v_source.listen) AS c (channel)
                WHERE NOT coalesce(octet_length(c.channel) BETWEEN 1 AND 63, FALSE)
            )
        )
    ) AS w (argument, value, expected, is_right)
    WHERE NOT coalesce(w.is_right, FALSE)
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', v_wrong.argument,
                'value', left(v_wrong.value, 60),
                'expected', v_wrong.expected
            )
        );
    END IF;
    INSERT INTO omd_dispatch.task_source AS s (
        family_code, task_type, source, every, listen, inactive_indicator
    )
    VALUES (
        p_family_code, p_task_type, v_source.source, v_source.every, v_source.listen,
        v_source.inactive_indicator
    )
    ON CONFLICT (family_code, task_type) DO UPDATE SET
        source = excluded.source,
        every = excluded.every,
        listen = excluded.listen,
        inactive_indicator = excluded.inactive_indicator,
        is_firing = FALSE,
        attempt = 0, -- perhaps it was mended
        retry_time = NULL;
    PERFORM omd_dispatch._tell_sources();
END
$register_source$;

COMMENT ON PROCEDURE omd_dispatch.register_source IS
'Registers a view whose rows become tasks of the type p_task_type in the family p_family_code, or '
'changes it; a NULL argument keeps the present value. p_source: the view; its columns are '
'criteria in lower case, payload and priority, and it is read with the rights of the workers; a '
'row whose key is that of a live task is passed over; '''': none any more. p_every: how often '
'workers read it (5 seconds). p_listen: channels; a notification on one of them, and the end of a '
'task of the family, has it read at once, but reading takes at most a tenth of the time. '
'p_inactive_indicator: Y: it is not read. Errors: OM005: an argument is NULL; OM006: '
'p_inactive_indicator; OM013: an argument is not allowed; OM070, OM071: family or type is '
'unknown. Locks: the source. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.register_source TO omd_admin;
