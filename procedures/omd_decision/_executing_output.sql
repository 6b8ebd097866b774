-- The Module of a stage has its first output as its target, and Spark writes the others too, row by
-- row, before the run succeeds.

CREATE OR REPLACE FUNCTION omd_decision._executing_output(
    p_source text,
    OUT p_until timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $executing_output$
BEGIN
    SELECT
        i.start_datetime - interval '1 microsecond',
        format('Module Instance %s of stage %s is open', i.module_instance_id, s.stage_code)
    INTO p_until, p_who
    FROM omd.open_instance AS i
    INNER JOIN omd_decision.stage AS s ON i.module_id = s.module_id
    INNER JOIN omd_decision.run AS r ON i.module_instance_id = r.module_instance_id
    INNER JOIN omd_decision.stage_version AS v
        ON r.stage_id = v.stage_id AND r.stage_version = v.version
    CROSS JOIN LATERAL omd.json_items(v.definition -> 'outputs') AS o
    WHERE (i.execution_status_code = 'E' OR i.is_rollback_pending)
        AND omd.target_relation(o.item ->> 'table') = ANY(
            ARRAY(
                SELECT unnest(omd.table_family(u.relation_id))
                FROM omd.relations_under(omd.target_relation(p_source)) AS u
            )
        )
    ORDER BY i.start_datetime
    LIMIT 1;
END
$executing_output$;

COMMENT ON FUNCTION omd_decision._executing_output IS
'Returns the time before the oldest run of a stage that executes, or waits for its rollback, and '
'writes to a table under the table or view p_source: p_until and p_who; NULL when there is none. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd_decision._executing_output FROM PUBLIC;
