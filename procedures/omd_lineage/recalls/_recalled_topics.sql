-- How the steps of a topic are taken back is decided by what they did, and said once: the plan, the
-- act and the locks of a recall ask here. A table that others refer to comes after these; else the
-- newest topics come first, since they may have read the others.

CREATE OR REPLACE FUNCTION omd_lineage._recalled_topics(
    p_instance_array bigint[]
)
RETURNS TABLE (
    topic_id integer,
    topic text,
    module_id integer,
    module_code text,
    table_code text,
    insert_column text,
    is_here boolean,
    processor text,
    replaces boolean,
    reload_id bigint,
    instance_array bigint[],
    executing_array bigint[],
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recalled_topics$
BEGIN
    RETURN QUERY
    WITH run AS MATERIALIZED (
        SELECT
            x.module_id,
            array_agg(x.module_instance_id ORDER BY x.module_instance_id) FILTER (
                WHERE x.execution_status_code = 'S'
            ) AS instance_array,
            array_agg(x.module_instance_id ORDER BY x.module_instance_id) FILTER (
                WHERE x.execution_status_code = 'E'
            ) AS executing_array
        FROM omd.standing_runs(p_instance_array) AS x
        WHERE x.module_kind_code = 'TOPIC'
        GROUP BY x.module_id
    ),

    target AS MATERIALIZED (
        SELECT DISTINCT omd.target_relation(m.table_code) AS relation
        FROM run AS r
        INNER JOIN omd.module_target AS m USING (module_id)
        WHERE m.platform_code = 'POSTGRES'
    )

    SELECT
        t.topic_id,
        t.topic,
        m.module_id,
        m.module_code,
        m.table_code,
        m.insert_instance_column,
        m.platform_code = 'POSTGRES',
        t.processor,
        num_nonnulls(t.merge_key, t.recompute_key) > 0 OR EXISTS (
            SELECT FROM omd_lineage.replacement AS p
            WHERE p.module_instance_id = ANY(r.instance_array)
        ),
        CASE
            WHEN t.processor = 'RELOAD'
                THEN (
                    SELECT max(w.module_instance_id)
                    FROM omd.succeeded_windows(
                        m.module_id, '-infinity', -9223372036854775808,
                        'infinity', 9223372036854775807
                    ) AS w
                )
        END,
        coalesce(r.instance_array, '{}'),
        coalesce(r.executing_array, '{}'),
        CASE
            WHEN EXISTS (
                SELECT FROM omd_lineage.replacement AS p
                WHERE p.module_id = m.module_id
                    AND p.is_purged
                    AND p.module_instance_id >= r.instance_array[1]
            )
                THEN 'PURGED: the rows that it replaced are not kept any more'
            WHEN m.platform_code <> 'POSTGRES' THEN NULL
            WHEN NOT omd.target_exists(m.table_code) THEN 'NO_ROLLBACK: the table is not there'
            WHEN omd.target_column_type(m.table_code, m.insert_instance_column) IS NULL
                THEN format('NO_ROLLBACK: the table has no column %s', m.insert_instance_column)
        END
    FROM run AS r
    INNER JOIN omd_lineage.topic AS t USING (module_id)
    INNER JOIN omd.module_target AS m USING (module_id)
    ORDER BY
        (
            SELECT count(*)
            FROM omd._referencing_tables(omd.target_relation(m.table_code)) AS f (relation)
            INNER JOIN target AS o ON f.relation = o.relation
            WHERE (SELECT count(*) FROM target) > 1
        ),
        r.instance_array[cardinality(r.instance_array)] DESC NULLS LAST, t.topic_id;
END
$recalled_topics$;

COMMENT ON FUNCTION omd_lineage._recalled_topics IS
'Returns the topics of those runs of p_instance_array that are steps, with the steps that stand '
'(instance_array) and those that execute outside of the database (executing_array): the target, '
'whether it is in this database (is_here), whether the steps replaced rows by key (replaces), the '
'run whose content a RELOAD has (reload_id), and what is in the way of taking them back (problem). '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._recalled_topics TO omd_admin;
