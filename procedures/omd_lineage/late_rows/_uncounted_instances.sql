-- Rows of a run that fails are undone, so no step may have read them. A run that ended after the
-- oldest open one began counts as open too: rows of the two lie among each other, and a block ends
-- before the first row that does not count.

CREATE OR REPLACE FUNCTION omd_lineage._uncounted_instances(
    p_table_code text,
    OUT p_instance_array bigint[],
    OUT p_insert_instance_column text,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $uncounted_instances$
DECLARE
    v_modules integer[];
    v_is_open boolean;
    v_since timestamptz;
BEGIN
    p_instance_array := '{}';
    -- The look at what is open is cheap, also beside a transaction that sleeps.
    SELECT
        array_agg(m.module_id),
        min(m.insert_instance_column),
        bool_or(EXISTS (SELECT FROM omd.open_module_instances(m.module_id)))
    INTO v_modules, p_insert_instance_column, v_is_open
    FROM omd.module_target AS m
    WHERE m.table_code = p_table_code
        AND m.platform_code = 'POSTGRES';
    IF v_is_open IS NOT TRUE THEN
        RETURN;
    END IF;

    SELECT o.start_datetime, format('Module Instance %s of %s', o.module_instance_id, m.module_code)
    INTO v_since, p_who
    FROM omd.open_instance AS o
    INNER JOIN omd.module_target AS m USING (module_id)
    WHERE o.module_id = ANY(v_modules)
        AND (o.execution_status_code = 'E' OR o.is_rollback_pending)
    ORDER BY o.start_datetime
    LIMIT 1;
    IF v_since IS NOT NULL THEN
        SELECT array_agg(i.module_instance_id) INTO p_instance_array
        FROM (
            SELECT o.module_instance_id
            FROM omd.open_instance AS o
            WHERE o.module_id = ANY(v_modules)
                AND (o.execution_status_code = 'E' OR o.is_rollback_pending)
            UNION
            SELECT s.module_instance_id
            FROM unnest(v_modules) AS m (module_id)
            CROSS JOIN LATERAL omd.instances_since(m.module_id, v_since) AS s
        ) AS i;
    END IF;
END
$uncounted_instances$;

COMMENT ON FUNCTION omd_lineage._uncounted_instances IS
'Returns the Module Instances whose rows in the base table p_table_code (schema.table) do not '
'count yet: p_instance_array, which is empty when all rows count; p_insert_instance_column, the '
'column that holds the instance of a row; p_who, the oldest run that executes or has failed. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._uncounted_instances TO omd_runner, omd_admin;
