-- A column keeps its place as long as the view is there, so CREATE OR REPLACE VIEW follows a model
-- that grows: what is new comes last.

CREATE OR REPLACE FUNCTION omd_facts._select_list(
    p_entity_id integer,
    p_prefix text,
    p_interface_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $select_list$
DECLARE
    v_moment CONSTANT text := omd_facts._moment_sql(p_entity_id);
    v_ends text;
    v_audits text;
BEGIN
    -- A context without a row in an interval may get its first one before others change.
    SELECT
        string_agg(
            format(
                ', CASE WHEN c%1$s.acm_id IS NULL THEN'
                ' (SELECT min(n.acm_start_dt) FROM %2$I.%3$I AS n'
                ' WHERE n.acm_id = i.acm_id AND n.acm_start_dt > i.acm_start_dt)'
                ' ELSE c%1$s.acm_end_dt END',
                c.context_id, 'cfl_' || p_interface_code, c.context_table
            ),
            '' ORDER BY c.context_id
        ),
        string_agg(
            format(
                ' WHEN c%1$s.acm_start_dt = i.acm_start_dt THEN c%1$s.acm_audit_id', c.context_id
            ),
            '' ORDER BY c.context_id
        )
    INTO v_ends, v_audits
    FROM omd_facts.context AS c
    INNER JOIN omd_facts.entity AS e USING (entity_id)
    WHERE c.entity_id = p_entity_id
        AND e.entity_kind <> 'CONTEXT'
        AND c.context_code <> 'properties';
    RETURN (
        SELECT
            string_agg(
                format(
                    '    %s AS %I',
                    CASE
                        WHEN v_ends IS NULL OR p_prefix = 'gdal_' THEN i.expression
                        WHEN p_prefix = 'asof_' AND x.context_id IS NOT NULL
                            THEN
                                format(
                                    'CASE WHEN c%1$s.acm_start_dt > %2$s THEN (r%1$s.r).%3$I'
                                    ' WHEN c%1$s.acm_record_ind <> ''R'' THEN c%1$s.%3$I END',
                                    x.context_id, v_moment, i.name
                                )
                        WHEN p_prefix = 'asof_' THEN i.expression
                        WHEN i.name = 'acm_start_dt' THEN 'i.acm_start_dt'
                        WHEN i.name = 'acm_end_dt' THEN 'least(p.acm_end_dt' || v_ends || ')'
                        WHEN i.name = 'acm_record_ind'
                            THEN
                                'CASE WHEN p.acm_record_ind = ''R'' THEN ''R''::text'
                                ' WHEN p.acm_record_ind = ''N'''
                                ' AND p.acm_start_dt = i.acm_start_dt THEN ''N'' ELSE ''A'' END'
                        WHEN i.name = 'acm_audit_id'
                            THEN
                                'CASE WHEN p.acm_start_dt = i.acm_start_dt THEN p.acm_audit_id'
                                || v_audits || ' END'
                        -- A key that comes back as a subtype has none of its former values. What
                        -- was deleted with it is seen as long as it is deleted.
                        WHEN x.context_id IS NOT NULL
                            THEN
                                format(
                                    'CASE WHEN c%1$s.acm_record_ind <> ''R'''
                                    ' OR (p.acm_record_ind = ''R'''
                                    ' AND c%1$s.acm_start_dt >= p.acm_start_dt) THEN %2$s END',
                                    x.context_id, i.expression
                                )
                        ELSE i.expression
                    END,
                    i.name
                ),
                E',\n' ORDER BY c.attnum, i.place, i.name
            )
        FROM omd_facts._view_items(p_entity_id) AS i
        INNER JOIN omd_facts.entity AS e ON e.entity_id = p_entity_id
        LEFT JOIN omd_facts.context AS x
            ON x.entity_id = p_entity_id AND split_part(i.expression, '.', 1) = 'c' || x.context_id
        LEFT JOIN pg_attribute AS c
            ON c.attrelid = to_regclass(
                format('%I.%I', p_prefix || p_interface_code, e.entity_code)
            )
                AND i.name = c.attname
    );
END
$select_list$;

COMMENT ON FUNCTION omd_facts._select_list IS
'Returns the columns of the view of the entity p_entity_id in the schema p_prefix and '
'p_interface_code. Locks: none.';
