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
    v_contexts integer[];
BEGIN
    SELECT array_agg(c.context_id ORDER BY c.context_id) INTO v_contexts
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
                        WHEN p_prefix <> 'history_' OR v_contexts IS NULL THEN i.expression
                        ELSE CASE i.name
                            WHEN 'acm_start_dt' THEN 'i.acm_start_dt'
                            WHEN 'acm_end_dt' THEN 'i.acm_end_dt'
                            WHEN 'acm_record_ind'
                                THEN
                                    'CASE WHEN p.acm_record_ind = ''R'' THEN ''R''::text'
                                    ' WHEN p.acm_record_ind = ''N'''
                                    ' AND p.acm_start_dt = i.acm_start_dt THEN ''N'' ELSE ''A'' END'
                            WHEN 'acm_audit_id'
                                THEN
                                    format(
                                        'CASE WHEN p.acm_start_dt = i.acm_start_dt'
                                        ' THEN p.acm_audit_id%s END',
                                        (
                                            SELECT
                                                string_agg(
                                                    format(
                                                        ' WHEN c%s.acm_start_dt = i.acm_start_dt'
                                                        ' THEN c%s.acm_audit_id',
                                                        c.id, c.id
                                                    ),
                                                    ''
                                                )
                                            FROM unnest(v_contexts) AS c (id)
                                        )
                                    )
                            ELSE i.expression
                        END
                    END,
                    i.name
                ),
                E',\n' ORDER BY c.attnum, i.place, i.name
            )
        FROM omd_facts._view_items(p_entity_id) AS i
        INNER JOIN omd_facts.entity AS e ON e.entity_id = p_entity_id
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
REVOKE ALL ON FUNCTION omd_facts._select_list FROM PUBLIC;
