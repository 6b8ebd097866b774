-- save_module writes with the rights of the owner. The SQL of a user is parsed here, with the
-- rights of who gives it: the check of a domain in it is executed when it is parsed.

CREATE OR REPLACE PROCEDURE omd.register_module(
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
    p_max_failures integer DEFAULT NULL,
    p_start_hint text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $register_module$
DECLARE
    v_executable text;
    v_look record;
BEGIN
    CALL omd.save_module(
        p_module_code, p_area_code, p_table_code, p_table_type_code, p_platform_code,
        p_executable, p_module_description, p_business_key_columns, p_effective_date_column,
        p_expiry_date_column, p_current_indicator_column, p_insert_instance_column,
        p_update_instance_column, p_companion_module_codes, p_inactive_indicator, p_module_id,
        p_table_format_code, p_open_expiry_date, p_job, p_backoff, p_backoff_limit,
        p_max_failures
    );
    IF p_start_hint IS NOT NULL THEN
        PERFORM omd._save_start_hint(p_module_code, p_start_hint);
    END IF;
    -- What the caller can't name, or may not call, the first run looks up.
    IF current_setting('omd.user_code', TRUE) = 'off' THEN
        RETURN;
    END IF;
    IF omd._needs_look(p_module_code) THEN
        SELECT d.executable INTO v_executable FROM omd.module_definition(p_module_code) AS d;
        v_look := omd._statement_inputs(v_executable);
        IF v_look.p_tables IS NOT NULL THEN
            PERFORM omd._save_look(
                p_module_code, md5(v_executable), v_look.p_tables, v_look.p_problem
            );
        END IF;
    END IF;
END
$register_module$;

COMMENT ON PROCEDURE omd.register_module IS
'Inserts or updates the Module p_module_code; a NULL argument keeps the present value. A new '
'Module needs an area and a table. p_area_code: STG, HSTG, INT, PRES, HELPER, or one you added. '
'p_table_code: the target, schema.table. p_table_type_code: the kind of target, such as HUB, SAT, '
'LSAT, LINK or 3NF. p_platform_code: POSTGRES (the default) or SPARK. p_executable: SQL for '
'run_module, in which current_setting(''omd.module_instance_id'') is the run; '''': it has none '
'any more. p_module_description: what it loads. '
'p_business_key_columns: the key of a target with history. p_effective_date_column: where the '
'validity of a row starts. p_expiry_date_column: where it ends. p_current_indicator_column: marks '
'the current row of a key. p_insert_instance_column, p_update_instance_column: the audit column '
'where its name differs from the standard. p_companion_module_codes: Modules that are rolled back '
'together with this one; replaces the list. p_inactive_indicator: Y skips each run. Returns '
'p_module_id. p_table_format_code: PARQUET for plain Parquet on Spark; ICEBERG or DELTA for a '
'lake table on Spark that OMD commits. p_open_expiry_date: what the expiry date of a current '
'record says (9999-12-31), as year-month-day. p_job: without SQL, the Python function that is a '
'run, module:function, which a worker calls; '''': none, a program outside begins it. p_backoff: '
'how long its work waits after a failure (10 seconds), twice as long after each further one in a '
'row. p_backoff_limit: the longest such wait (1 hour). p_max_failures: after so many failures in a '
'row its work waits for omd.retry (10); 0: never. p_start_hint: how a person starts it again, '
'where a program outside begins it, such as "airflow: dag nightly"; '''': nobody says so. Warns of '
'each problem of omd_report.readiness but INPUTS_UNKNOWN. Errors: OM002, OM005, OM006, OM009, '
'OM013, OM111: another target or way to undo its runs while a rollback is pending or a run '
'executes, OM204, OM210: a target in a schema of OMD or PostgreSQL, OM219: SQL or a job for the '
'Module of a room. Locks: the Module row. DIRECT, "Module Processing". Call again when the answer '
'was lost.';
GRANT EXECUTE ON PROCEDURE omd.register_module TO omd_admin;
