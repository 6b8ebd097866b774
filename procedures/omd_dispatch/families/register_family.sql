-- The columns of a family are never dropped or retyped, since tasks that wait have values in them.

CREATE OR REPLACE PROCEDURE omd_dispatch.register_family(
    p_family_code text,
    p_criteria jsonb DEFAULT NULL,
    p_key_criteria text[] DEFAULT NULL,
    p_scheme_code text DEFAULT NULL,
    p_partition_count integer DEFAULT NULL,
    p_retention interval DEFAULT NULL,
    p_migration_status integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_family$
DECLARE
    v_old omd_dispatch.task_conf_family_desc;
    v_new omd_dispatch.task_conf_family_desc;
    v_period interval;
    v_wrong record;
    v_criterion record;
    v_status integer;
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM omd_dispatch._require_code('p_family_code', p_family_code);
    IF p_family_code ~ '_(P[0-9]+|SWAP|OLD)$' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_family_code',
                'value', p_family_code,
                'expected', 'without _P and a number, _SWAP or _OLD at its end, which name parts of tables'
            )
        );
    END IF;
    -- Two registrations of a new family could both make its table.
    LOCK TABLE omd_dispatch.task_conf_family_desc IN SHARE ROW EXCLUSIVE MODE;
    SELECT f.* INTO v_old
    FROM omd_dispatch.task_conf_family_desc AS f
    WHERE f.family_code = p_family_code;

    v_new.family_code := p_family_code;
    v_new.scheme_code := coalesce(p_scheme_code, v_old.scheme_code, 'DAY_RING');
    v_new.partition_count := coalesce(p_partition_count, v_old.partition_count, 8);
    SELECT s.period INTO v_period
    FROM omd_dispatch.task_conf_partition_scheme AS s
    WHERE s.scheme_code = v_new.scheme_code;
    v_new.retention := coalesce(p_retention, v_old.retention, 6 * v_period);

    SELECT w.argument, w.value, w.expected INTO v_wrong
    FROM (
        VALUES
        (
            'p_scheme_code', v_new.scheme_code, 'DAY_RING or WEEK_RING', v_period IS NOT NULL
        ),
        (
            'p_scheme_code', p_scheme_code, coalesce(v_old.scheme_code, '') || ', as first given',
            coalesce(p_scheme_code = v_old.scheme_code, TRUE)
        ),
        (
            'p_partition_count', p_partition_count::text,
            coalesce(v_old.partition_count::text, '') || ', as first given',
            coalesce(p_partition_count = v_old.partition_count, TRUE)
        ),
        (
            'p_partition_count', v_new.partition_count::text, 'a number from 3 to 1000',
            v_new.partition_count BETWEEN 3 AND 1000
        ),
        (
            'p_retention', v_new.retention::text, 'greater than zero',
            v_new.retention > interval '0'
        ),
        (
            'p_retention', v_new.retention::text,
            format(
                'at most %s, two periods less than the ring',
                (v_new.partition_count - 2) * v_period
            ),
            v_new.retention + 2 * v_period <= v_new.partition_count * v_period
        ),
        (
            'p_criteria', p_criteria::text, 'a JSON object such as {"CODE": "text"}',
            coalesce(jsonb_typeof(p_criteria), 'object') = 'object'
        ),
        (
            'p_migration_status', p_migration_status::text, 'from 0 to 4',
            coalesce(p_migration_status BETWEEN 0 AND 4, TRUE)
        )
    ) AS w (argument, value, expected, is_right)
    WHERE NOT coalesce(w.is_right, FALSE)
    LIMIT 1;
    IF NOT FOUND THEN
        SELECT 'p_criteria' AS argument, c.criterion || ': ' || c.data_type AS value, c.expected
        INTO v_wrong
        FROM (
            SELECT
                c.key AS criterion,
                coalesce(c.value #>> '{}', 'null') AS data_type,
                CASE
                    WHEN c.key !~ '^[A-Z][A-Z0-9_]{0,29}$'
                        THEN 'names of an upper case letter, then at most 29 of A-Z, 0-9 and _'
                    WHEN c.value #>> '{}' IS NULL
                        OR c.value #>> '{}' NOT IN (
                            'text', 'bigint', 'numeric', 'boolean', 'date', 'timestamptz', 'uuid'
                        )
                        THEN
                            'of type text, bigint, numeric, boolean, date, timestamptz or uuid'
                    WHEN c.value #>> '{}' <> m.data_type
                        THEN format('of type %s, as first given', m.data_type)
                    WHEN EXISTS (
                        SELECT FROM omd_dispatch.task_conf_dict AS d
                        WHERE d.family_code = p_family_code AND d.external_name = c.key
                    )
                        THEN 'a name that is no external name of another criterion'
                END AS expected
            FROM jsonb_each(coalesce(p_criteria, '{}')) AS c
            LEFT JOIN omd_dispatch.task_conf_family_model AS m
                ON m.family_code = p_family_code AND m.criterion = c.key
        ) AS c
        WHERE c.expected IS NOT NULL
        LIMIT 1;
    END IF;
    IF NOT FOUND THEN
        SELECT 'p_key_criteria' AS argument, k.criterion AS value, 'names in p_criteria' AS expected
        INTO v_wrong
        FROM unnest(p_key_criteria) AS k (criterion)
        WHERE NOT coalesce(p_criteria ? k.criterion, FALSE)
            AND NOT EXISTS (
                SELECT FROM omd_dispatch.task_conf_family_model AS m
                WHERE m.family_code = p_family_code AND m.criterion = k.criterion
            )
        LIMIT 1;
    END IF;
    IF NOT FOUND AND v_old.family_code IS NOT NULL THEN
        -- Another key would let two live tasks have the same one.
        SELECT
            'p_key_criteria' AS argument,
            array_to_string(p_key_criteria, ', ') AS value,
            'the key as first given' AS expected
        INTO v_wrong
        WHERE p_key_criteria IS NOT NULL
            AND ARRAY(SELECT DISTINCT k FROM unnest(p_key_criteria) AS k ORDER BY 1)
            <> ARRAY(
                SELECT m.criterion FROM omd_dispatch.task_conf_family_model AS m
                WHERE m.family_code = p_family_code AND m.is_key
                ORDER BY m.criterion
            );
    END IF;
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

    INSERT INTO omd_dispatch.task_conf_family_desc AS f SELECT v_new.*
    ON CONFLICT (family_code) DO UPDATE SET retention = excluded.retention
    WHERE f.retention <> excluded.retention;
    IF v_old.family_code IS NULL THEN
        CALL omd_dispatch._make_model_lock(p_family_code);
        CALL omd_dispatch._make_task_table(v_new);
        INSERT INTO omd_dispatch.task_migration_status (family_code, migration_status)
        VALUES (p_family_code, 4);
    END IF;
    FOR v_criterion IN
        INSERT INTO omd_dispatch.task_conf_family_model (family_code, criterion, data_type, is_key)
        SELECT
            p_family_code,
            c.key,
            c.value,
            v_old.family_code IS NULL AND c.key = ANY(coalesce(p_key_criteria, '{}'))
        FROM jsonb_each_text(coalesce(p_criteria, '{}')) AS c
        ORDER BY c.key
        ON CONFLICT (family_code, criterion) DO NOTHING
        RETURNING lower(criterion) AS name, data_type
    LOOP
        -- Who waited for the table itself would have all families wait behind him.
        PERFORM omd_dispatch._change_model(p_family_code, current_setting('lock_timeout'));
        -- No purge exchanges the spare partition while it and the partitions differ.
        PERFORM omd_dispatch._empty_spare_partition(p_family_code);
        EXECUTE format(
            'ALTER TABLE %1$s ADD COLUMN %3$I %4$s; ALTER TABLE %2$s ADD COLUMN %3$I %4$s',
            omd_dispatch._data_table(p_family_code),
            omd_dispatch._data_table(p_family_code, '_swap'),
            'func_' || v_criterion.name,
            v_criterion.data_type
        );
    END LOOP;
    IF FOUND THEN
        CALL omd_dispatch._comment_task_tables(p_family_code);
        CALL omd_dispatch._make_job_tables(p_family_code);
    END IF;
    CALL omd_dispatch._make_claims(p_family_code);
    CALL omd_dispatch._make_insert();
    IF v_old.family_code IS NULL THEN
        -- A new family has no tasks, so it may begin anywhere.
        FOR v_status IN SELECT g FROM generate_series(3, coalesce(p_migration_status, 4), -1) AS g LOOP
            CALL omd_dispatch.set_migration_status(p_family_code, v_status);
        END LOOP;
    ELSIF p_migration_status IS NOT NULL THEN
        CALL omd_dispatch.set_migration_status(p_family_code, p_migration_status);
    END IF;
END
$register_family$;

COMMENT ON PROCEDURE omd_dispatch.register_family IS
'Registers the family p_family_code and makes its table of tasks; a later call may add criteria '
'and change what else is not said to stay. p_criteria: the types of its criteria, as {"CODE": '
'"text"}: text, bigint, numeric, boolean, date, timestamptz or uuid; they stay. p_key_criteria: '
'of tasks with the same values in these one at most is live; they stay. p_scheme_code: DAY_RING '
'or WEEK_RING; it stays. p_partition_count: partitions of the ring (8); it stays. p_retention: '
'how long tasks are kept at least (6 periods); the ring is at least two periods longer. '
'p_migration_status: 0 to 4 (4 for a new family). Errors: OM005: p_family_code is NULL; OM013: an '
'argument is not allowed; OM014: the isolation level is not read committed; OM173, OM174: as '
'set_migration_status. Locks: other registrations; the table of the family and its spare '
'partition while a column is added. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.register_family TO omd_admin;
