-- A table of outputs says of which key a row is when it has omd_key and its stage goes by the key.

CREATE OR REPLACE FUNCTION omd_decision.outputs_of(
    p_holders jsonb
)
RETURNS TABLE (table_code text, columns jsonb)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $outputs_of$
BEGIN
    RETURN QUERY
    SELECT DISTINCT
        omd.quote_table(o.item ->> 'table', 'POSTGRES'),
        CASE
            WHEN h.columns - ARRAY(
                SELECT k.item ->> 'column' FROM omd.json_items(v.definition -> 'keys') AS k
            ) = '{}'
                AND EXISTS (
                    SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = omd.target_relation(o.item ->> 'table')
                        AND a.attname = 'omd_key'
                        AND a.atttypid = 'jsonb'::regtype
                )
                THEN h.columns
        END
    FROM omd_decision._holding_stages(p_holders) AS h
    INNER JOIN omd_decision.stage_version AS v USING (stage_id, version)
    CROSS JOIN LATERAL omd.json_items(v.definition -> 'outputs') AS o
    WHERE omd.target_relation(o.item ->> 'table') IS NOT NULL
    ORDER BY 1, 2;
END
$outputs_of$;

COMMENT ON FUNCTION omd_decision.outputs_of IS
'For rooms: Returns the tables into which stages that read one of p_holders write, and the columns '
'of it that its column omd_key has; NULL: it has not all of them. Locks: none.';
