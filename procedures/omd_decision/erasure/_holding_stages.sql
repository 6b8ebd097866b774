-- All versions count: a former one has kept rows too.

CREATE OR REPLACE FUNCTION omd_decision._holding_stages(
    p_holders jsonb
)
RETURNS TABLE (stage_id integer, version integer, columns jsonb)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $holding_stages$
BEGIN
    RETURN QUERY
    SELECT DISTINCT v.stage_id, v.version, h.columns
    FROM jsonb_to_recordset(p_holders) AS h (relations text[], columns jsonb)
    CROSS JOIN omd_decision.stage_version AS v
    INNER JOIN LATERAL omd_decision._links(v.definition) AS l
        ON omd.quote_table(l.source, 'POSTGRES') = ANY(h.relations);
END
$holding_stages$;

COMMENT ON FUNCTION omd_decision._holding_stages IS
'Returns the versions of stages that read one of p_holders, [{"relations", "columns": {column: '
'attribute of the key}}], with these columns. Locks: none.';
