-- A topic is a Module, and its steps are runs of this Module. A topic only inserts, so its Module
-- gets the rollback of HSTG where its area has none.

CREATE OR REPLACE PROCEDURE omd_lineage._register_topic_module(
    p_topic text,
    p_table_code text,
    p_engine text,
    p_comment text,
    p_present_module_id integer,
    p_module_code text,
    p_area_code text,
    p_table_type_code text,
    p_platform_code text,
    p_backoff interval,
    p_backoff_limit interval,
    p_max_failures integer,
    INOUT p_module_id integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_topic_module$
DECLARE
    v_module omd.module_target;
    v_messages CONSTANT text := current_setting('client_min_messages');
    v_code text := coalesce(
        p_module_code,
        (
            SELECT m.module_code FROM omd.module_target AS m
            WHERE m.module_id = p_present_module_id
        ),
        p_topic
    );
BEGIN
    SELECT m.* INTO v_module FROM omd.module_target AS m WHERE m.module_code = v_code;
    -- save_module would warn that no rollback is registered, which happens only below.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.save_module(
        v_code,
        p_area_code => coalesce(p_area_code, v_module.area_code, 'PRES'),
        p_table_code => coalesce(v_module.table_code, p_table_code),
        p_table_type_code => p_table_type_code,
        p_platform_code => coalesce(p_platform_code, v_module.platform_code, 'POSTGRES'),
        p_module_description => p_comment,
        p_module_id => p_module_id,
        p_backoff => p_backoff,
        p_backoff_limit => p_backoff_limit,
        p_max_failures => p_max_failures
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    SELECT m.* INTO v_module FROM omd.module_target AS m WHERE m.module_id = p_module_id;
    IF omd.quote_table(v_module.table_code, v_module.platform_code)
        <> omd.quote_table(p_table_code, v_module.platform_code)
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_module_code', 'value', v_code,
                'expected', 'a Module that loads ' || p_table_code || ', not '
                || v_module.table_code
            )
        );
    ELSIF p_engine = 'POSTGRES' AND v_module.platform_code <> 'POSTGRES' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_engine', 'value', p_engine,
                'expected', 'SPARK: the target of Module ' || v_code || ' lives on '
                || v_module.platform_code
            )
        );
    ELSIF v_module.platform_code = 'POSTGRES'
        AND omd.target_exists(v_module.table_code)
        AND omd.target_column_type(v_module.table_code, v_module.insert_instance_column) IS NULL
    THEN
        PERFORM omd.raise_error(
            'OM205',
            jsonb_build_object(
                'module_code', v_code,
                'table_code', v_module.table_code,
                'argument', 'p_insert_instance_column',
                'column_name', v_module.insert_instance_column
            )
        );
    END IF;

    -- PRES and the areas that users add may have no rollback.
    IF NOT omd.has_rollback_template(p_module_id) THEN
        CALL omd.register_rollback(v_code);
    END IF;
    -- This call warns of what is still missing.
    CALL omd.save_module(v_code, p_module_id => p_module_id);
    PERFORM omd.set_module_kind(p_module_id, 'TOPIC', p_engine);
    IF p_present_module_id <> p_module_id THEN
        PERFORM omd.set_module_kind(p_present_module_id);
    END IF;
END
$register_topic_module$;

COMMENT ON PROCEDURE omd_lineage._register_topic_module IS
'Registers the Module p_module_code (else the one of p_present_module_id, else p_topic) that '
'loads p_table_code for the topic p_topic, with p_area_code (PRES), p_table_type_code, '
'p_platform_code (POSTGRES), the description p_comment and the pauses p_backoff, p_backoff_limit '
'and p_max_failures, and returns its p_module_id. Errors: '
'OM006: a code is unknown; OM009: the table is no name on the platform; OM013: the Module loads '
'another table, its target does not fit p_engine, or its code is blank; OM205: its target lacks '
'the column that tells the run; OM111: another target while a rollback is pending; OM204: another '
'platform than that of a companion; OM209: nothing is known that would undo a load of its table '
'format; OM210: a schema of OMD or PostgreSQL. Locks: the Module row.';
