-- Compares January as it was decided in the database and on Spark: the decisions, the calls of the
-- rules with the records that took part, and the rejected records with their codes and reasons.

WITH run AS MATERIALIZED (
    SELECT
        l.engine,
        max(l.module_instance_id) AS module_instance_id
    FROM omd_report.decision_run_log AS l
    WHERE l.stage_code IN ('flight_care', 'january_care') AND l.execution_status_code = 'S'
    GROUP BY l.engine
),

fact (what, engine, said) AS (
    SELECT
        'decisions',
        'POSTGRES',
        to_jsonb(j) - 'omd_insert_module_instance_id'
    FROM care.january AS j
    UNION ALL
    SELECT
        'decisions',
        'SPARK',
        to_jsonb(d) - 'omd_insert_module_instance_id'
    FROM care.decision AS d
    WHERE d.omd_wave = '1'
    UNION ALL
    SELECT
        'calls of the rules',
        run.engine,
        to_jsonb(c) - '{module_instance_id,params,result,trace}'::text[]
    FROM omd_decision.cycle AS c
    INNER JOIN run ON c.module_instance_id = run.module_instance_id
    WHERE c.wave = '1'
    UNION ALL
    SELECT
        'rejected records',
        run.engine,
        to_jsonb(r) - 'module_instance_id'
    FROM omd_decision.reject AS r
    INNER JOIN run ON r.module_instance_id = run.module_instance_id
    WHERE r.wave = '1'
),

counted AS (
    SELECT
        f.what,
        count(*) FILTER (WHERE f.engine = 'POSTGRES') AS in_database,
        count(*) FILTER (WHERE f.engine = 'SPARK') AS on_spark
    FROM fact AS f
    GROUP BY f.what, f.said
)

SELECT
    c.what,
    sum(c.in_database)::bigint AS in_database,
    sum(c.on_spark)::bigint AS on_spark,
    sum(abs(c.in_database - c.on_spark))::bigint AS different
FROM counted AS c
GROUP BY c.what
ORDER BY c.what DESC;
