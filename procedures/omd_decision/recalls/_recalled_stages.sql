-- The tables are those of the rollback of a stage: all that any of its versions has named and that
-- still exist.

CREATE OR REPLACE FUNCTION omd_decision._recalled_stages(
    p_instance_array bigint[]
)
RETURNS TABLE (
    stage_id integer,
    stage_code text,
    module_id integer,
    module_code text,
    table_code text,
    insert_column text,
    tables text[],
    instance_array bigint[],
    executing_array bigint[]
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recalled_stages$
BEGIN
    RETURN QUERY
    SELECT
        s.stage_id,
        s.stage_code,
        m.module_id,
        m.module_code,
        m.table_code,
        m.insert_instance_column,
        ARRAY(
            SELECT o.item ->> 'table'
            FROM omd_decision.stage_version AS v
            CROSS JOIN LATERAL omd.json_items(v.definition -> 'outputs') AS o
            WHERE v.stage_id = s.stage_id
                AND omd.target_column_type(o.item ->> 'table', m.insert_instance_column)
                IS NOT NULL
            GROUP BY o.item ->> 'table'
            ORDER BY max(v.version) DESC, min(o.ordinal), o.item ->> 'table'
        ),
        coalesce(r.instance_array, '{}'),
        coalesce(r.executing_array, '{}')
    FROM (
        SELECT
            x.module_id,
            array_agg(x.module_instance_id ORDER BY x.module_instance_id) FILTER (
                WHERE x.execution_status_code = 'S'
            ) AS instance_array,
            array_agg(x.module_instance_id ORDER BY x.module_instance_id) FILTER (
                WHERE x.execution_status_code = 'E'
            ) AS executing_array
        FROM omd.standing_runs(p_instance_array) AS x
        WHERE x.module_kind_code = 'STAGE'
        GROUP BY x.module_id
    ) AS r
    INNER JOIN omd_decision.stage AS s USING (module_id)
    INNER JOIN omd.module_target AS m USING (module_id)
    ORDER BY r.instance_array[cardinality(r.instance_array)] DESC NULLS LAST, s.stage_id;
END
$recalled_stages$;

COMMENT ON FUNCTION omd_decision._recalled_stages IS
'Returns the stages of those runs of p_instance_array that are runs of stages, with the runs that '
'stand (instance_array) and those that execute outside of the database (executing_array), the '
'output tables and their column of instance ids. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._recalled_stages TO omd_admin;
