-- What the Module lacks, such as its target or a template, is a warning and not an error: it may be
-- created later. The price is that a rollback fails until then, so the warning says it at once.

CREATE OR REPLACE PROCEDURE omd.save_module(
    p_module_code text,
    p_area_code text DEFAULT NULL,
    p_table_code text DEFAULT NULL,
    p_table_type_code text DEFAULT NULL,
    p_platform_code text DEFAULT NULL,
    p_executable text DEFAULT NULL,
    p_module_description text DEFAULT NULL,
    p_business_key_columns text[] DEFAULT NULL,
    p_effective_date_column text DEFAULT NULL,
    p_expiry_date_column text DEFAULT NULL,
    p_current_indicator_column text DEFAULT NULL,
    p_insert_instance_column text DEFAULT NULL,
    p_update_instance_column text DEFAULT NULL,
    p_companion_module_codes text[] DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL,
    INOUT p_module_id integer DEFAULT NULL,
    p_table_format_code text DEFAULT NULL,
    p_open_expiry_date text DEFAULT NULL,
    p_job text DEFAULT NULL,
    p_backoff interval DEFAULT NULL,
    p_backoff_limit interval DEFAULT NULL,
    p_max_failures integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_module$
DECLARE
    v_area_code text := omd.require_code('area', p_area_code);
    v_table_type_code text := omd.require_code('table type', p_table_type_code);
    v_platform_code text := omd.require_code('platform', p_platform_code);
    v_table_format_code text := omd.require_code('table format', p_table_format_code);
    v_inactive_indicator text := omd.require_code('inactive indicator', p_inactive_indicator);
    v_old omd.module;
    v_new omd.module;
    v_is_lake boolean;
    v_way text;
    v_companions integer[];
    v_argument text;
    v_stranger record;
    v_problem record;
BEGIN
    PERFORM omd.require_name('p_module_code', p_module_code);
    SELECT * INTO v_old FROM omd.module AS m WHERE m.module_code = p_module_code FOR NO KEY UPDATE;

    PERFORM omd._require_job(v_old, p_executable, p_job);
    v_new.executable := coalesce(p_executable, v_old.executable);
    IF v_new.executable !~ '\S' THEN
        v_new.executable := NULL;
    END IF;
    v_new.job := nullif(coalesce(p_job, v_old.job), '');
    IF v_old.module_kind_code NOT IN (SELECT k.module_kind_code FROM omd.own_kind AS k) THEN
        v_new.module_kind_code := v_old.module_kind_code;
        v_new.engine_code := v_old.engine_code;
    ELSE
        SELECT k.p_module_kind_code, k.p_engine_code
        INTO v_new.module_kind_code, v_new.engine_code
        FROM omd._kind_without_room(v_new.executable, v_new.job) AS k;
    END IF;

    v_way := omd._way_of_undoing(v_old.module_id);
    v_companions := ARRAY(
        SELECT c.companion_module_id
        FROM omd.module_companion AS c
        WHERE c.module_id = v_old.module_id
        ORDER BY c.companion_module_id
    );

    v_new.area_code := coalesce(v_area_code, v_old.area_code);
    v_new.table_code := coalesce(p_table_code, v_old.table_code);
    v_new.platform_code := coalesce(v_platform_code, v_old.platform_code, 'POSTGRES');
    PERFORM omd.require_name('p_area_code', v_new.area_code);
    PERFORM omd.require_name('p_table_code', v_new.table_code);
    v_table_format_code := coalesce(v_table_format_code, v_old.table_format_code);
    v_is_lake := v_table_format_code IN ('ICEBERG', 'DELTA');
    IF v_is_lake AND v_new.platform_code <> 'SPARK' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_platform_code', 'value', v_new.platform_code,
                'expected', 'SPARK for the table format ' || v_table_format_code
            )
        );
    END IF;
    v_new.table_code := coalesce(
        CASE
            WHEN v_is_lake THEN omd.spell_table(v_new.table_code)
            WHEN v_new.platform_code = 'POSTGRES'
                THEN omd.quote_table(v_new.table_code, 'POSTGRES')
        END,
        v_new.table_code
    );
    PERFORM omd._require_backoff(p_backoff, p_backoff_limit, p_max_failures);
    PERFORM omd._require_expiry_date(p_open_expiry_date, v_new.platform_code);
    PERFORM omd._require_target(
        v_old,
        v_new.table_code,
        v_new.platform_code,
        coalesce(p_insert_instance_column, v_old.insert_instance_column),
        v_table_format_code
    );

    INSERT INTO omd.module AS m (
        module_code, module_description, area_code, table_code, table_type_code, platform_code,
        executable,
        business_key_columns, effective_date_column, expiry_date_column, current_indicator_column,
        insert_instance_column, update_instance_column, inactive_indicator, table_format_code,
        open_expiry_date, module_kind_code, engine_code, job, backoff,
        backoff_limit, max_failures
    )
    VALUES (
        p_module_code,
        p_module_description,
        v_new.area_code,
        v_new.table_code,
        v_table_type_code,
        v_new.platform_code,
        v_new.executable,
        p_business_key_columns,
        coalesce(p_effective_date_column, 'omd_effective_date'),
        coalesce(p_expiry_date_column, 'omd_expiry_date'),
        coalesce(p_current_indicator_column, 'omd_current_record_indicator'),
        coalesce(p_insert_instance_column, 'omd_insert_module_instance_id'),
        coalesce(p_update_instance_column, 'omd_update_module_instance_id'),
        coalesce(v_inactive_indicator, 'N'),
        v_table_format_code,
        coalesce(p_open_expiry_date, '9999-12-31'),
        v_new.module_kind_code,
        v_new.engine_code,
        v_new.job,
        coalesce(p_backoff, interval '10 seconds'),
        coalesce(p_backoff_limit, interval '1 hour'),
        coalesce(p_max_failures, 10)
    )
    ON CONFLICT (module_code) DO UPDATE SET
        module_description = coalesce(p_module_description, m.module_description),
        area_code = coalesce(v_area_code, m.area_code),
        table_code = v_new.table_code,
        table_type_code = coalesce(v_table_type_code, m.table_type_code),
        platform_code = coalesce(v_platform_code, m.platform_code),
        executable = v_new.executable,
        module_kind_code = v_new.module_kind_code,
        engine_code = v_new.engine_code,
        job = v_new.job,
        business_key_columns = coalesce(p_business_key_columns, m.business_key_columns),
        effective_date_column = coalesce(p_effective_date_column, m.effective_date_column),
        expiry_date_column = coalesce(p_expiry_date_column, m.expiry_date_column),
        current_indicator_column = coalesce(p_current_indicator_column, m.current_indicator_column),
        insert_instance_column = coalesce(p_insert_instance_column, m.insert_instance_column),
        update_instance_column = coalesce(p_update_instance_column, m.update_instance_column),
        inactive_indicator = coalesce(v_inactive_indicator, m.inactive_indicator),
        table_format_code = v_table_format_code,
        open_expiry_date = coalesce(p_open_expiry_date, m.open_expiry_date),
        backoff = coalesce(p_backoff, m.backoff),
        backoff_limit = coalesce(p_backoff_limit, m.backoff_limit),
        max_failures = coalesce(p_max_failures, m.max_failures)
    RETURNING m.module_id INTO p_module_id;

    IF p_companion_module_codes IS NOT NULL THEN
        DELETE FROM omd.module_companion AS c WHERE c.module_id = p_module_id;
        INSERT INTO omd.module_companion (module_id, companion_module_id)
        SELECT DISTINCT p_module_id, omd._require_module(c.module_code)
        FROM unnest(p_companion_module_codes) AS c (module_code);
    END IF;

    -- What could not be undone as it was may be mended; else a run is undone as it was loaded.
    IF v_way IS NOT NULL THEN
        SELECT
            CASE
                WHEN m.area_code <> v_old.area_code THEN 'p_area_code'
                WHEN m.table_type_code IS DISTINCT FROM v_old.table_type_code
                    THEN 'p_table_type_code'
                WHEN m.business_key_columns IS DISTINCT FROM v_old.business_key_columns
                    THEN 'p_business_key_columns'
                WHEN v_companions <> ARRAY(
                    SELECT c.companion_module_id
                    FROM omd.module_companion AS c
                    WHERE c.module_id = m.module_id
                    ORDER BY c.companion_module_id
                ) THEN 'p_companion_module_codes'
                WHEN omd._way_of_undoing(m.module_id) IS DISTINCT FROM v_way
                    THEN 'way of undoing'
            END
        INTO v_argument
        FROM omd.module AS m
        WHERE m.module_id = p_module_id;
        IF v_argument IS NOT NULL THEN
            PERFORM omd._require_nothing_to_undo(
                v_old, v_argument, 'undo them in another way'
            );
        END IF;
    END IF;

    -- Somebody reads the table by the times at which its rows were written.
    IF v_new.platform_code = 'POSTGRES' AND EXISTS (
        SELECT FROM omd.source_position AS s
        WHERE s.table_code = v_new.table_code AND s.source_kind_code = 'RUNS'
    ) THEN
        PERFORM omd.declare_runs_of(v_new.table_code);
    END IF;

    -- One rollback is executed on one platform.
    SELECT other.module_code, other.platform_code INTO v_stranger
    FROM omd.module_companion AS c
    INNER JOIN omd.module AS other
        ON other.module_id IN (c.module_id, c.companion_module_id)
    WHERE p_module_id IN (c.module_id, c.companion_module_id)
        AND other.platform_code <> v_new.platform_code
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM204',
            jsonb_build_object(
                'module_code', v_stranger.module_code,
                'platform_code', v_stranger.platform_code,
                'expected', v_new.platform_code || ', as that of its companion ' || p_module_code
            )
        );
    END IF;

    FOR v_problem IN
        SELECT p.problem, p.command FROM omd._module_problems(p_module_id) AS p
    LOOP
        RAISE WARNING USING
            MESSAGE = format('Module "%s": %s', p_module_code, v_problem.problem),
            HINT = v_problem.command;
    END LOOP;
END
$save_module$;

COMMENT ON PROCEDURE omd.save_module IS
'For rooms: Inserts or updates the Module p_module_code as register_module does, with its '
'parameters and its errors, and does not look up what its SQL reads: that text is a user''s. '
'Locks: the Module row.';
GRANT EXECUTE ON PROCEDURE omd.save_module TO omd_admin;
