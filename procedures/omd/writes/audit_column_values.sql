-- The function reads the values that omd_report.audit_columns does not read, so it needs the rights
-- of the caller and time.

CREATE OR REPLACE FUNCTION omd.audit_column_values(
    p_module_code text
)
RETURNS TABLE (
    problem text,
    module_instance_id bigint,
    row_count bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $audit_column_values$
DECLARE
    v_module record;
    v_table text;
    v_parts text[];
BEGIN
    SELECT d.module_id, d.table_code, d.platform_code, d.insert_instance_column INTO v_module
    FROM omd.module_definition(p_module_code) AS d;

    IF v_module.platform_code <> 'POSTGRES' THEN
        PERFORM omd.raise_error(
            'OM204',
            jsonb_build_object(
                'module_code', p_module_code,
                'platform_code', v_module.platform_code,
                'expected', 'POSTGRES',
                'next_command', format('SELECT omd.module_definition(%L);', p_module_code)
            )
        );
    END IF;
    v_table := omd.quote_table(v_module.table_code, 'POSTGRES');
    IF v_table IS NULL THEN
        PERFORM omd.raise_error(
            'OM009',
            jsonb_build_object('table_code', v_module.table_code, 'platform_code', 'POSTGRES')
        );
    ELSIF NOT omd.target_exists(v_module.table_code) THEN
        PERFORM omd.raise_error(
            'OM202',
            jsonb_build_object('module_code', p_module_code, 'table_code', v_module.table_code)
        );
    END IF;

    v_parts := parse_ident(v_module.table_code);

    FOR module_instance_id, row_count IN EXECUTE format(
        'SELECT t.%1$I::bigint, count(*) FROM %2$I.%3$I AS t GROUP BY t.%1$I ORDER BY t.%1$I',
        v_module.insert_instance_column,
        v_parts[1],
        v_parts[2]
    ) LOOP
        -- Several Modules may load one table, and their stamps belong there.
        SELECT
            CASE
                WHEN s.id IS NULL THEN 'NO_STAMP'
                WHEN m.module_id IS NULL THEN 'UNKNOWN_INSTANCE'
                WHEN omd.quote_table(m.table_code, m.platform_code) IS DISTINCT FROM v_table
                    THEN 'OTHER_TARGET'
                WHEN mi.rolled_back_by_module_instance_id IS NOT NULL THEN 'ROLLED_BACK'
                WHEN mi.execution_status_code = 'E' THEN 'EXECUTING'
                WHEN mi.execution_status_code IN ('A', 'C') THEN 'NEVER_RAN'
                WHEN s.id = ANY(omd.pending_rollback(m.module_id)) THEN 'ROLLBACK_PENDING'
            END INTO problem
        FROM (SELECT audit_column_values.module_instance_id AS id) AS s
        LEFT JOIN omd.module_instance AS mi ON s.id = mi.module_instance_id
        LEFT JOIN omd.module AS m ON mi.module_id = m.module_id;
        IF problem IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$audit_column_values$;

COMMENT ON FUNCTION omd.audit_column_values IS
'Returns the Module Instance IDs in the insert column of the target of p_module_code that should '
'not be there, and on how many rows each stands. problem is NO_STAMP, UNKNOWN_INSTANCE, '
'OTHER_TARGET (the instance is of a Module that loads another table), ROLLED_BACK, EXECUTING, '
'NEVER_RAN (the instance was aborted or skipped) or ROLLBACK_PENDING (the next begin undoes it). '
'There is no row when all is well. It reads the whole table with the rights of the caller. '
'Errors: OM002, OM005, OM009, OM202, OM204. Locks: ACCESS SHARE on the target. May be NULL: '
'module_instance_id.';
GRANT EXECUTE ON FUNCTION omd.audit_column_values TO omd_reader;
