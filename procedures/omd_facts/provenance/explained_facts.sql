-- The context that holds an attribute is its history. A context that is written once stays when its
-- key is deleted, so its rows are cut where existence says that the key is not there: versions of
-- existence that lie one behind the other are one piece, whatever else has changed in them. The
-- statements are executed with the rights of who asks.

CREATE OR REPLACE FUNCTION omd_facts.explained_facts(
    p_table_code text,
    p_key jsonb,
    p_column text,
    p_at timestamptz,
    OUT relation text,
    OUT interface_code text,
    OUT entity_code text,
    OUT context_code text,
    OUT finder text,
    OUT chain text,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $explained_facts$
DECLARE
    v_name CONSTANT text[] := parse_ident(omd.quote_table(p_table_code, 'POSTGRES'));
    v_entity record;
    v_held record;
    v_types jsonb;
    v_keys jsonb;
    v_key text;
    v_definitions text;
    v_condition text;
    v_value text := 'NULL';
    v_match record;
BEGIN
    SELECT e.entity_id, i.interface_code, e.entity_code, e.anchor_table, c.context_id,
        c.context_code, c.context_table
    INTO v_entity
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.entity AS e USING (interface_id)
    INNER JOIN omd_facts.context AS c USING (entity_id)
    WHERE v_name[1] IN (
        'gdal_' || i.interface_code, 'asof_' || i.interface_code, 'history_' || i.interface_code,
        'changes_' || i.interface_code
    )
        AND e.entity_code = v_name[2]
        AND (e.entity_kind = 'CONTEXT' OR c.context_code = 'properties');
    IF NOT FOUND THEN
        RETURN;
    END IF;
    interface_code := v_entity.interface_code;
    entity_code := v_entity.entity_code;
    relation := format('%I.%I', 'gdal_' || interface_code, entity_code);
    SELECT
        jsonb_object_agg(a.attribute_code, a.data_type),
        jsonb_object_agg(a.attribute_code, a.data_type) FILTER (WHERE a.key_position IS NOT NULL),
        'jsonb_build_object(' || string_agg(
            format('%L, %s', a.attribute_code, v.expression), ', ' ORDER BY a.key_position
        ) FILTER (WHERE a.key_position IS NOT NULL) || ')',
        string_agg(format('%I %s', a.attribute_code, a.data_type), ', ')
        FILTER (WHERE a.key_position IS NOT NULL),
        string_agg(format('%s = k.%I', v.expression, a.attribute_code), ' AND ')
        FILTER (WHERE a.key_position IS NOT NULL),
        min(v.expression) FILTER (WHERE a.attribute_code = p_column)
    INTO v_types, v_keys, v_key, v_definitions, v_condition, v_value
    FROM omd_facts.attribute AS a
    INNER JOIN omd_facts._view_items(v_entity.entity_id) AS v ON a.attribute_code = v.name
    WHERE a.entity_id = v_entity.entity_id;
    v_match := omd.key_match(v_types, p_key);
    problem := coalesce(
        v_match.problem,
        CASE WHEN NOT v_types ? p_column THEN format('it has no attribute %s', p_column) END
    );
    IF problem IS NOT NULL THEN
        RETURN;
    END IF;
    IF NOT p_key ?& ARRAY(SELECT jsonb_object_keys(v_keys)) OR NOT v_keys ?& ARRAY(
        SELECT jsonb_object_keys(p_key)
    ) THEN
        finder := format(
            'SELECT DISTINCT jsonb_build_object(%s) AS key FROM jsonb_to_record($1) AS k (%s)'
            ' INNER JOIN %I.%I AS t ON %s%s LIMIT 2',
            (
                SELECT string_agg(format('%L, t.%I', n.name, n.name), ', ')
                FROM jsonb_object_keys(v_keys) AS n (name)
            ),
            v_match.definitions,
            CASE WHEN p_at IS NULL THEN 'gdal_' ELSE 'history_' END || interface_code,
            entity_code,
            v_match.condition,
            CASE
                WHEN p_at IS NOT NULL
                    THEN ' WHERE t.acm_start_dt <= $2 AND t.acm_end_dt > $2'
                        ' AND t.acm_record_ind <> ''R'''
            END
        );
    END IF;
    SELECT
        c.context_code,
        c.context_table,
        omd_facts._alias(c.context_id, v_entity.context_id) AS alias,
        c.context_kind = 'immutable' AND c.context_id <> v_entity.context_id AS is_cut
    INTO v_held
    FROM omd_facts.context AS c
    WHERE c.context_id = coalesce(
        (
            SELECT a.context_id FROM omd_facts.attribute AS a
            WHERE a.entity_id = v_entity.entity_id AND a.attribute_code = p_column
        ),
        v_entity.context_id
    );
    context_code := v_held.context_code;
    chain := format(
        $sql$SELECT
    %1$s AS key,
    (%2$s)::text AS value,
    %3$s AS valid_from,
    %4$s AS valid_until,
    %5$s::text AS record_ind,
    %6$s AS module_instance_id,
    to_jsonb(%7$s) AS record,
    NULL::integer AS file_no,
    NULL::bigint AS line
FROM jsonb_to_record($1) AS k (%8$s)
CROSS JOIN %9$I.%10$I AS a
INNER JOIN %9$I.%11$I AS %7$s ON a.acm_id = %7$s.acm_id%12$s
WHERE %13$s
ORDER BY valid_from$sql$,
        v_key,
        coalesce(v_value, 'NULL'),
        CASE
            WHEN v_held.is_cut
                THEN format('greatest(%s.acm_start_dt, p.acm_start_dt)', v_held.alias)
            ELSE v_held.alias || '.acm_start_dt'
        END,
        CASE
            WHEN v_held.is_cut THEN format('least(%s.acm_end_dt, p.acm_end_dt)', v_held.alias)
            ELSE v_held.alias || '.acm_end_dt'
        END,
        CASE
            WHEN v_held.is_cut
                THEN format(
                    '(CASE WHEN p.acm_record_ind = ''R'' THEN ''R'' ELSE %s.acm_record_ind::text END)',
                    v_held.alias
                )
            ELSE v_held.alias || '.acm_record_ind'
        END,
        CASE
            WHEN v_held.is_cut
                THEN format(
                    'CASE WHEN p.acm_record_ind = ''R'' THEN p.acm_audit_id'
                    ' ELSE %s.acm_audit_id END',
                    v_held.alias
                )
            ELSE v_held.alias || '.acm_audit_id'
        END,
        v_held.alias,
        v_definitions,
        'cfl_' || interface_code,
        v_entity.anchor_table,
        v_held.context_table,
        CASE
            WHEN v_held.is_cut
                THEN format(
                    $sql$
INNER JOIN LATERAL (
    SELECT
        min(v.acm_start_dt) AS acm_start_dt,
        max(v.acm_end_dt) AS acm_end_dt,
        min(v.acm_record_ind) AS acm_record_ind,
        min(v.acm_audit_id) FILTER (WHERE v.is_first) AS acm_audit_id
    FROM (
        SELECT w.*, count(*) FILTER (WHERE w.is_first) OVER (ORDER BY w.acm_start_dt) AS piece
        FROM (
            SELECT x.acm_start_dt, x.acm_end_dt, x.acm_record_ind::text, x.acm_audit_id,
                (x.acm_record_ind = 'R') IS DISTINCT FROM lag(x.acm_record_ind = 'R') OVER n
                OR x.acm_start_dt IS DISTINCT FROM lag(x.acm_end_dt) OVER n AS is_first
            FROM %1$I.%2$I AS x
            WHERE x.acm_id = a.acm_id
            WINDOW n AS (ORDER BY x.acm_start_dt)
        ) AS w
    ) AS v
    GROUP BY v.piece
) AS p ON p.acm_start_dt < %3$s.acm_end_dt AND p.acm_end_dt > %3$s.acm_start_dt$sql$,
                    'cfl_' || interface_code, v_entity.context_table, v_held.alias
                )
        END,
        v_condition
    );
END
$explained_facts$;

COMMENT ON FUNCTION omd_facts.explained_facts IS
'For rooms: Returns how the row with the key p_key is read that an offered view p_table_code '
'(gdal_, asof_, history_ or changes_) shows, with the attribute p_column (NULL: none) as value: '
'relation, its current view; interface_code, entity_code and context_code, what holds it; finder, '
'a statement that returns the key of its rows for any other attributes (parameters: p_key and '
'p_at), NULL where p_key is the key; chain, one that returns all versions of a key; problem, why '
'it can''t be read. p_at: as of when it is looked for; NULL: now. All are NULL where it is no such '
'view. Locks: none.';
