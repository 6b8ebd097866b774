-- V071: decision: the tables that a stage puts out are read by its runs, which omd knows. Applied
-- once. The routine that looked for them goes; a call that executes it goes on, under another name,
-- until sql/cleanup/drop_retired.sql drops it.

DO $do$
BEGIN
    IF to_regproc('omd_decision._executing_output') IS NOT NULL THEN
        COMMENT ON ROUTINE omd_decision._executing_output IS 'Retired.';
        ALTER ROUTINE omd_decision._executing_output RENAME TO _former_executing_output;
    END IF;
END
$do$;

SELECT omd.declare_runs(s.module_id, array_agg(DISTINCT o.item ->> 'table'))
FROM omd_decision.stage AS s
INNER JOIN omd_decision.stage_version AS v ON s.stage_id = v.stage_id
CROSS JOIN LATERAL omd.json_items(v.definition -> 'outputs') AS o
WHERE s.module_id IS NOT NULL AND o.item ->> 'table' IS NOT NULL
GROUP BY s.module_id
ORDER BY s.module_id;
