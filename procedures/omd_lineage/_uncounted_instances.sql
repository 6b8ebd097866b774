-- Whose rows in a base table do not count: those of runs of its Modules that have not succeeded,
-- and of all that ended after the oldest of these began: they may be in the midst of its rows.

CREATE OR REPLACE FUNCTION omd_lineage._uncounted_instances(
    p_table_code text,
    OUT instance_array bigint[],
    OUT insert_instance_column text,
    OUT who text
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
    v_since timestamptz;
BEGIN
    instance_array := '{}';
    SELECT array_agg(m.module_id), min(m.insert_instance_column)
    INTO v_modules, insert_instance_column
    FROM omd.module AS m
    WHERE m.table_code IN (p_table_code, omd.quote_table(p_table_code, 'POSTGRES'))
        AND m.platform_code = 'POSTGRES';
    IF v_modules IS NULL THEN
        RETURN;
    END IF;

    SELECT o.start_datetime, format('Module Instance %s of %s', o.module_instance_id, m.module_code)
    INTO v_since, who
    FROM omd.module_instance AS o
    INNER JOIN omd.module AS m USING (module_id)
    WHERE o.module_id = ANY(v_modules)
        AND (
            o.execution_status_code = 'E'
            OR (
                (o.execution_status_code = 'F' OR o.next_run_indicator = 'R')
                AND o.rolled_back_by_module_instance_id IS NULL
            )
        )
    ORDER BY o.start_datetime
    LIMIT 1;
    IF v_since IS NULL THEN
        RETURN;
    END IF;

    SELECT array_agg(i.module_instance_id) INTO instance_array
    FROM unnest(v_modules) AS m (module_id)
    CROSS JOIN LATERAL (
        SELECT mi.module_instance_id, mi.end_datetime
        FROM omd.module_instance AS mi
        WHERE mi.module_id = m.module_id
        ORDER BY mi.module_instance_id DESC
        LIMIT 10000
    ) AS i
    WHERE coalesce(i.end_datetime, 'infinity') > v_since;
END
$uncounted_instances$;

COMMENT ON FUNCTION omd_lineage._uncounted_instances IS
'The Module Instances whose rows in the base table p_table_code (schema.table) do not count yet, '
'the column that tells whose a row is, and the oldest run that is at work or failed; an empty '
'array when all rows count. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._uncounted_instances FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._uncounted_instances TO omd_runner, omd_admin;
