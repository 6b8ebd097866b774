-- The tables of the types are parts of two tables of the family, so that a claim reads one table in
-- the old model as in the new one. A family at status 4 needs none.

CREATE OR REPLACE PROCEDURE omd_dispatch._make_job_tables(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_job_tables$
DECLARE
    v_table text := omd_dispatch._model_table(p_family_code, FALSE);
    v_criteria text := format('omd_dispatch.%I', 'old_task_criteria_' || lower(p_family_code));
    v_type omd_dispatch.task_conf_type_desc;
    v_statement text;
BEGIN
    IF omd_dispatch._migration_status(p_family_code) = 4 THEN
        RETURN;
    END IF;
    IF to_regclass(v_table) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE %1$s (LIKE %2$s INCLUDING CONSTRAINTS INCLUDING DEFAULTS'
            ' INCLUDING COMMENTS) PARTITION BY LIST (task_type); ALTER TABLE %1$s %3$s',
            v_table,
            omd_dispatch._data_table(p_family_code),
            (
                SELECT string_agg(format('DROP COLUMN %I', a.attname), ', ')
                FROM pg_attribute AS a
                WHERE a.attrelid = omd_dispatch._data_table(p_family_code)::regclass
                    AND a.attname ~ '^(func_|partition_code$)'
                    AND NOT a.attisdropped
            )
        );
        EXECUTE format(
            $sql$
            ALTER TABLE %1$s ADD CONSTRAINT %3$I PRIMARY KEY (task_id, task_type);
            COMMENT ON TABLE %1$s IS %4$L;
            GRANT SELECT ON %1$s TO omd_reader;
            CREATE TABLE %2$s (
                task_id bigint NOT NULL,
                criterion text NOT NULL,
                criterion_value text NOT NULL
            );
            ALTER TABLE %2$s REPLICA IDENTITY FULL;
            COMMENT ON TABLE %2$s IS %5$L;
            COMMENT ON COLUMN %2$s.task_id IS 'The task.';
            COMMENT ON COLUMN %2$s.criterion IS 'The criterion.';
            COMMENT ON COLUMN %2$s.criterion_value IS 'Its value, as text.';
            GRANT SELECT ON %2$s TO omd_reader
            $sql$,
            v_table,
            v_criteria,
            'pk_old_task_data_' || lower(p_family_code),
            format('The tasks of the family %s in the old model, by types.', p_family_code),
            format('The criteria of the tasks of the family %s in the old model.', p_family_code)
        );
        CALL omd_dispatch._index_tasks(v_table);
    END IF;
    FOR v_type IN
        SELECT t.* FROM omd_dispatch.task_conf_type_desc AS t
        WHERE t.family_code = p_family_code
            AND NOT EXISTS (
                SELECT FROM omd_dispatch.job_type AS j
                WHERE j.task_type = t.task_type AND j.family_code = p_family_code
            )
    LOOP
        IF to_regclass(omd_dispatch._job_table(v_type.task_type)) IS NOT NULL
            OR to_regclass(omd_dispatch._job_table(v_type.task_type, 'criteria_value_')) IS NOT NULL
        THEN
            PERFORM omd.raise_error(
                'OM173',
                jsonb_build_object(
                    'family_code', p_family_code,
                    'status', omd_dispatch._migration_status(p_family_code),
                    'problem', format(
                        'the old model has the table %s already, so it can''t have the type %s',
                        omd_dispatch._job_table(v_type.task_type), v_type.task_type
                    )
                )
            );
        END IF;
        EXECUTE format(
            $sql$
            CREATE TABLE %1$s PARTITION OF %2$s FOR VALUES IN (%3$L);
            COMMENT ON TABLE %1$s IS %4$L;
            GRANT SELECT ON %1$s TO omd_reader;
            CREATE TABLE %5$s (
                CONSTRAINT %6$I PRIMARY KEY (task_id, criterion)
            ) INHERITS (%7$s);
            COMMENT ON TABLE %5$s IS %8$L;
            COMMENT ON COLUMN %5$s.task_id IS 'The task.';
            COMMENT ON COLUMN %5$s.criterion IS 'The criterion.';
            COMMENT ON COLUMN %5$s.criterion_value IS 'Its value, as text.';
            GRANT SELECT ON %5$s TO omd_reader
            $sql$,
            omd_dispatch._job_table(v_type.task_type),
            v_table,
            v_type.task_type,
            format('The tasks of the type %s in the old model.', v_type.task_type),
            omd_dispatch._job_table(v_type.task_type, 'criteria_value_'),
            'pk_job_criteria_value_' || lower(v_type.task_type),
            v_criteria,
            format('The criteria of the tasks of the type %s in the old model.', v_type.task_type)
        );
        FOR v_statement IN
            SELECT
                format(
                    'COMMENT ON COLUMN %s.%I IS %L', omd_dispatch._job_table(v_type.task_type),
                    a.attname, col_description(a.attrelid, a.attnum)
                )
            FROM pg_attribute AS a
            WHERE a.attrelid = to_regclass(v_table) AND a.attnum > 0 AND NOT a.attisdropped
        LOOP
            EXECUTE v_statement;
        END LOOP;
        INSERT INTO omd_dispatch.job_type (task_type, family_code)
        VALUES (v_type.task_type, p_family_code);
    END LOOP;
    CALL omd_dispatch._name_indexes(v_table);
    CALL omd_dispatch._set_storage(v_table);
    DELETE FROM omd_dispatch.job_type_criteria AS c
    WHERE c.task_type IN (
        SELECT j.task_type FROM omd_dispatch.job_type AS j WHERE j.family_code = p_family_code
    );
    INSERT INTO omd_dispatch.job_type_criteria (task_type, criterion, is_key)
    SELECT j.task_type, m.criterion, m.is_key
    FROM omd_dispatch.job_type AS j
    INNER JOIN omd_dispatch.task_conf_family_model AS m ON j.family_code = m.family_code
    LEFT JOIN omd_dispatch.task_conf_custom AS c
        ON c.family_code = m.family_code
            AND c.task_type = j.task_type
            AND c.criterion = m.criterion
    WHERE j.family_code = p_family_code AND c.mode IS DISTINCT FROM 'D';
    DELETE FROM omd_dispatch.deliver_id_task_type AS d
    WHERE d.task_type IN (
        SELECT j.task_type FROM omd_dispatch.job_type AS j WHERE j.family_code = p_family_code
    );
    INSERT INTO omd_dispatch.deliver_id_task_type (deliver_id, task_type)
    SELECT t.deliver_id, t.task_type
    FROM omd_dispatch.task_conf_type_desc AS t
    WHERE t.family_code = p_family_code;
    -- Here the worker is the trigger too.
    DELETE FROM omd_dispatch.trigger_id_task_type AS g
    WHERE g.task_type IN (
        SELECT j.task_type FROM omd_dispatch.job_type AS j WHERE j.family_code = p_family_code
    );
    INSERT INTO omd_dispatch.trigger_id_task_type (trigger_id, task_type)
    SELECT t.deliver_id, t.task_type
    FROM omd_dispatch.task_conf_type_desc AS t
    WHERE t.family_code = p_family_code;
END
$make_job_tables$;

COMMENT ON PROCEDURE omd_dispatch._make_job_tables IS
'Makes what the old model of p_family_code lacks: its tables and its configuration. Errors: OM173:'
' another table has the name of a type. Locks: the new tables.';
