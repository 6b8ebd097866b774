-- Spark reads a source by SQL that is made here, so that both engines order records by one text.
-- The text of a date follows settings of the session, and so does JSON. The reader sets none, so
-- the query does: the planner takes a condition without columns for one that is tested once, before
-- the first row is read.

CREATE OR REPLACE FUNCTION omd_decision.link_query(
    p_module_instance_id bigint,
    p_link text
)
RETURNS TABLE (
    query text,
    families jsonb,
    block_count bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $link_query$
DECLARE
    v_run record;
    v_link record;
    v_problem text;
    v_wave_key text;
    v_sort_key text;
    v_window text;
    v_is_present boolean;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    v_run.definition := omd_decision._as_read(v_run.definition);
    SELECT l.* INTO v_link
    FROM omd_decision._links(v_run.definition) AS l
    WHERE l.name = p_link;
    IF v_link.source IS NULL THEN
        v_problem := CASE
            WHEN v_link.name IS NULL THEN 'the stage has no such link'
            ELSE 'it has no source: the job hands over a DataFrame'
        END;
    ELSE
        SELECT p.text INTO v_problem
        FROM omd_decision._link_problems(v_run.definition) AS p
        WHERE p.link = p_link
        ORDER BY p.text
        LIMIT 1;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM289', jsonb_build_object('link', p_link, 'problem', v_problem)
        );
    END IF;

    SELECT
        string_agg(
            omd_decision._sort_key_sql(format('s.%I', o.column_name), c.family, 'ASC'), ''
        ) FILTER (WHERE o.place = 0),
        string_agg(
            omd_decision._sort_key_sql(format('s.%I', o.column_name), c.family, o.direction),
            ' || ' ORDER BY o.place
        ),
        jsonb_object_agg(o.column_name, c.family)
    INTO v_wave_key, v_sort_key, families
    FROM omd_decision._order_columns(
        -- The first link may be a DataFrame.
        jsonb_set(v_run.definition, '{links,0,source}', to_jsonb(v_link.source))
    ) AS o
    INNER JOIN omd_decision._columns(v_link.source) AS c USING (column_name)
    WHERE NOT v_link.is_buffer OR o.place = 0;
    v_is_present := v_run.definition #> ARRAY['links', (v_link.number - 1)::text, 'present']
        IS NOT DISTINCT FROM 'true';
    IF NOT v_link.is_buffer AND v_run.definition #>> '{window,column}' IS NOT NULL THEN
        SELECT
            string_agg(
                format(
                    ' AND s.%I %s %L',
                    v_run.definition #>> '{window,column}',
                    b.operator,
                    to_jsonb(b.bound) #>> '{}'
                ),
                ''
            )
        INTO v_window
        FROM (
            VALUES ('>', v_run.start_value), ('<=', v_run.end_value)
        ) AS b (operator, bound)
        WHERE b.bound IS NOT NULL;
    END IF;
    query := format(
        'SELECT %s AS wave_key, %s AS sort_key, %s AS link, s.%I::bigint AS arrival,'
        ' %s::text AS record FROM %s AS s'
        ' WHERE (SELECT set_config(''timezone'', ''UTC'', TRUE)) IS NOT NULL'
        ' AND (SELECT set_config(''datestyle'', ''ISO'', TRUE)) IS NOT NULL%s',
        coalesce(v_wave_key, CASE WHEN v_link.is_buffer THEN 'NULL::text' ELSE '''''::text' END),
        coalesce(v_sort_key, '''''::text'),
        v_link.number,
        v_link.arrival,
        CASE WHEN v_is_present THEN '(to_jsonb(s.*) - ''acm_change_id'')' ELSE 'to_jsonb(s.*)' END,
        v_link.source,
        concat(v_window, CASE WHEN v_is_present THEN ' AND s.acm_record_ind <> ''R''' END)
    );
    families := coalesce(families, '{}');
    SELECT
        pg_relation_size(c.oid) / current_setting('block_size')::bigint
    INTO block_count
    FROM pg_class AS c
    WHERE c.oid = omd.target_relation(v_link.source)
        AND c.relkind IN ('r', 'm');
    block_count := coalesce(block_count, 0);
    RETURN NEXT;
END
$link_query$;

COMMENT ON FUNCTION omd_decision.link_query IS
'For the driver: '
'One row: how a job of the run p_module_instance_id reads the source of the link p_link. query: a '
'SELECT of wave_key, the sort key of the wave (NULL: a buffer link that serves every wave), '
'sort_key, that of wave and keys, link, the number of the link, arrival, and record, the row as '
'JSON, within the window of the run. families: by column that orders the records, the family of '
'its type: boolean, integer, text, date, timestamp, timestamptz or uuid. block_count: the size of '
'a table in blocks; 0 for a view. Errors: OM005: p_module_instance_id is NULL; OM181: it is no '
'run of a stage; OM289: there is no such link, or its source lacks something. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision.link_query TO omd_runner;
