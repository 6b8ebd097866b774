-- Which columns an output fills follows the table as it is when the run writes.

CREATE OR REPLACE FUNCTION omd_decision._output_sql(
    p_definition jsonb,
    p_output jsonb,
    p_insert_column text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $output_sql$
DECLARE
    v_table CONSTANT text := p_output ->> 'table';
    v_parameter CONSTANT text := p_output ->> 'parameter';
    v_by CONSTANT text := p_output #>> '{propagate,by}';
    v_names text;
    v_values text;
    v_record text := 'o.record';
    v_link jsonb;
    v_list text;
BEGIN
    IF v_by IS NOT NULL THEN
        SELECT l.item INTO v_link
        FROM omd.json_items(p_definition -> 'links') AS l
        WHERE l.item ->> 'name' = p_output #>> '{propagate,link}';
        v_list := format(
            CASE
                WHEN v_link -> 'array' = 'true' THEN '(c.params -> %L)'
                ELSE 'jsonb_build_array(c.params -> %L)'
            END,
            v_link ->> 'parameter'
        );
        v_record := format(
            'coalesce(%s, ''{}'') || o.record',
            CASE v_by
                WHEN 'ORDER' THEN v_list || ' -> (o.place - 1)::integer'
                ELSE format(
                    '(SELECT p.item FROM omd.json_items(%s) AS p WHERE %s'
                    ' ORDER BY p.ordinal LIMIT 1)',
                    v_list,
                    (
                        SELECT
                            string_agg(
                                format(
                                    -- What an answer leaves out is equal to nothing.
                                    'coalesce(p.item -> %1$L, ''null'') = o.record -> %1$L',
                                    k.item ->> 'column'
                                ),
                                ' AND '
                            )
                        FROM omd.json_items(p_definition -> 'keys') AS k
                    )
                )
            END
        );
    END IF;

    SELECT
        string_agg(quote_ident(c.column_name), ', ' ORDER BY c.ordinal),
        string_agg(
            coalesce(s.value, 't.' || quote_ident(c.column_name)), ', ' ORDER BY c.ordinal
        )
    INTO v_names, v_values
    FROM omd_decision._columns(v_table) AS c
    LEFT JOIN (
        VALUES
        (p_insert_column, '$1'),
        ('omd_insert_datetime', '(SELECT omd.stamp_datetime($1))'),
        ('omd_record_source', '$2'),
        ('omd_wave', 'c.wave'),
        ('omd_key', 'c.key'),
        ('omd_cycle_no', 'c.cycle_no'),
        ('omd_invocation_no', 'c.invocation_no'),
        ('omd_ruleset_version', '$3')
    ) AS s (column_name, value) ON c.column_name = s.column_name
    WHERE s.value IS NOT NULL
        OR CASE
            WHEN p_output ? 'columns' THEN p_output -> 'columns' ? c.column_name
            ELSE NOT c.is_generated AND NOT c.has_default
        END;
    RETURN format(
        'INSERT INTO %1$s (%2$s) SELECT %3$s FROM called AS c'
        ' CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(c.result -> %4$L)'
        ' WHEN ''object'' THEN jsonb_build_array(c.result -> %4$L)'
        ' WHEN ''array'' THEN c.result -> %4$L ELSE ''[]'' END)'
        ' WITH ORDINALITY AS o (record, place)'
        ' CROSS JOIN LATERAL jsonb_populate_record(NULL::%1$s, %5$s) AS t'
        ' WHERE c.link IS NULL RETURNING 1',
        v_table,
        -- The server reports a table that is gone.
        coalesce(v_names, quote_ident(p_insert_column)),
        coalesce(v_values, '$1'),
        v_parameter,
        v_record
    );
END
$output_sql$;

COMMENT ON FUNCTION omd_decision._output_sql IS
'Returns the INSERT of the records of the output p_output of the stage document p_definition, '
'from the rows of called. p_insert_column: the column that tells the run. $1 is the run, $2 the '
'code of the Module, $3 the version of the ruleset. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._output_sql TO omd_runner;
