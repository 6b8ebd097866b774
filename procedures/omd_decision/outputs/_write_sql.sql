-- Both engines write what they have called by the same text.

CREATE OR REPLACE FUNCTION omd_decision._write_sql(
    p_definition jsonb,
    p_insert_column text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $write_sql$
DECLARE
    v_keep CONSTANT text := p_definition ->> 'keep';
    v_sql text;
BEGIN
    SELECT
        string_agg(
            format(
                ', out_%s AS (%s)', o.ordinal,
                omd_decision._output_sql(p_definition, o.item, p_insert_column)
            ),
            '' ORDER BY o.ordinal
        )
    INTO v_sql
    FROM omd.json_items(p_definition -> 'outputs') AS o;

    IF v_keep <> 'NONE' THEN
        v_sql := v_sql || format(
            ', kept AS (INSERT INTO omd_decision.cycle (module_instance_id, wave, key, cycle_no,'
            ' invocation_no, inputs, outputs, params, result, trace) SELECT $1, c.wave, c.key,'
            ' c.cycle_no, c.invocation_no, c.inputs, jsonb_build_object(%s), %s FROM called AS c'
            ' WHERE c.link IS NULL AND c.cycle_no IS NOT NULL)',
            (
                SELECT
                    string_agg(
                        format(
                            '%1$L, CASE jsonb_typeof(c.result -> %2$L) WHEN ''object'' THEN 1'
                            ' WHEN ''array'' THEN jsonb_array_length(c.result -> %2$L)'
                            ' ELSE 0 END',
                            o.item ->> 'name',
                            o.item ->> 'parameter'
                        ),
                        ', ' ORDER BY o.ordinal
                    )
                FROM omd.json_items(p_definition -> 'outputs') AS o
            ),
            CASE v_keep
                WHEN 'TRACE' THEN 'c.params, c.result, c.trace'
                ELSE 'NULL::jsonb, NULL::jsonb, NULL::jsonb'
            END
        );
    END IF;
    RETURN v_sql || ', rejected AS (INSERT INTO omd_decision.reject (module_instance_id, wave,'
        ' link, arrival, code, text, key, cycle_no, cause_link, record) SELECT $1, c.wave, c.link,'
        ' c.arrival, c.code, omd_decision._reject_text(c.code, c.cycle_no, c.cause_link), c.key,'
        ' c.cycle_no, c.cause_link, c.params FROM called AS c WHERE c.link IS NOT NULL)';
END
$write_sql$;

COMMENT ON FUNCTION omd_decision._write_sql IS
'Returns the further parts of a WITH whose part called has calls and rejects: they write outputs '
'(out_1, …), cycles and rejects of the stage document p_definition. p_insert_column: the column '
'of the outputs that tells the run. $1 to $3 are those of _output_sql. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._write_sql TO omd_runner;
