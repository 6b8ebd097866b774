-- One statement reads, calls and writes, so that rows pass from one step to the next and are
-- stored once. What a later step does not need is dropped where the ruleset is called.

CREATE OR REPLACE FUNCTION omd_decision._run_sql(
    p_definition jsonb,
    p_call text,
    p_insert_column text,
    p_batch_size bigint
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $run_sql$
DECLARE
    v_keep CONSTANT text := p_definition ->> 'keep';
    v_has_buffers CONSTANT boolean := EXISTS (
        SELECT FROM omd_decision._links(p_definition) AS l WHERE l.is_buffer
    );
    v_needs_params CONSTANT boolean := v_keep = 'TRACE' OR EXISTS (
        SELECT FROM omd.json_items(p_definition -> 'outputs') AS o
        WHERE o.item ? 'propagate'
    );
    v_params CONSTANT text := CASE
        WHEN v_has_buffers THEN 'c.params || b.params' ELSE 'c.params'
    END;
    v_sql text;
BEGIN
    v_sql := format(
        'WITH %s called AS MATERIALIZED (SELECT c.wave, c.key, c.cycle_no, c.invocation_no,'
        ' c.link, c.arrival, c.code, c.cause_link, c.sort_key, %s AS inputs, %s AS params,'
        ' CASE WHEN c.link IS NULL AND c.cycle_no IS NOT NULL THEN %s(%s) END AS result,'
        ' NULL::jsonb AS trace'
        ' FROM omd_decision._cycles($4, NULL, $5, $6) AS c%s)',
        CASE
            WHEN v_has_buffers
                THEN 'buffer AS MATERIALIZED (SELECT b.* FROM'
                    ' omd_decision._buffers($4, NULL, $5, $6) AS b),'
            ELSE ''
        END,
        CASE
            WHEN v_keep = 'NONE' THEN 'CASE WHEN c.cycle_no IS NULL THEN c.inputs END'
            ELSE 'c.inputs'
        END,
        CASE
            WHEN v_needs_params
                THEN format(
                    'CASE WHEN c.link IS NULL AND c.cycle_no IS NOT NULL THEN %s ELSE c.params END',
                    v_params
                )
            ELSE 'CASE WHEN c.link IS NOT NULL THEN c.params END'
        END,
        p_call,
        v_params,
        CASE
            WHEN v_has_buffers
                THEN ' LEFT JOIN buffer AS b ON b.wave_key = coalesce(''1'' || c.wave, ''0'')'
                    ' AND c.link IS NULL AND c.cycle_no IS NOT NULL'
            ELSE ''
        END
    );
    RETURN v_sql || omd_decision._write_sql(p_definition, p_insert_column) || format(
        ' SELECT jsonb_build_object('
        '''rows'', sum((c.inputs ->> ''rows'')::bigint) FILTER (WHERE %1$s),'
        ' ''waves'', sum((c.inputs ->> ''waves'')::bigint) FILTER (WHERE %1$s),'
        ' ''buffered'', %2$s,'
        ' ''invocations'', count(c.invocation_no),'
        ' ''cycles'', count(*) FILTER (WHERE c.invocation_no = 1),'
        ' ''failed'', count(DISTINCT (coalesce(''1'' || c.wave, ''0''), %3$s, c.cycle_no))'
        ' FILTER (WHERE c.link IS NOT NULL AND c.cycle_no IS NOT NULL),'
        ' ''rejected'', count(c.link),'
        ' ''unfit'', count(*) FILTER (WHERE c.invocation_no IS NOT NULL AND (%4$s)),'
        ' ''output'', %5$s,'
        ' ''rejects'', (SELECT jsonb_agg(to_jsonb(r)) FROM (SELECT DISTINCT ON (c.link, c.code)'
        ' c.link, c.code, count(*) OVER (PARTITION BY c.link, c.code) AS count, c.wave, c.key,'
        ' c.sort_key, c.arrival FROM called AS c WHERE c.link IS NOT NULL'
        ' ORDER BY c.link, c.code, c.sort_key COLLATE "C", c.arrival) AS r)'
        ') FROM called AS c',
        'c.link IS NULL AND c.cycle_no IS NULL',
        CASE
            WHEN v_has_buffers THEN '(SELECT coalesce(sum(b.row_count), 0) FROM buffer AS b)'
            ELSE '0'
        END,
        CASE
            WHEN p_definition ->> 'mode' = 'KEY' AND p_batch_size <= 1 THEN 'c.sort_key'
            ELSE '''''::text'
        END,
        omd_decision._unfit_sql(p_definition),
        (
            SELECT string_agg(format('(SELECT count(*) FROM out_%s)', o.ordinal), ' + ')
            FROM omd.json_items(p_definition -> 'outputs') AS o
        )
    );
END
$run_sql$;

COMMENT ON FUNCTION omd_decision._run_sql IS
'Returns the statement that runs the stage document p_definition: it reads the records, calls '
'the function p_call, writes outputs, cycles and rejects, and returns the counts as one object. '
'p_insert_column: the column of the outputs that tells the run; p_batch_size: the one that is '
'used. $1 to $3 are those of _output_sql; $4 is the document, ($5, $6] the window. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._run_sql TO omd_runner;
