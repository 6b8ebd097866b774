-- All versions of a row are in its table in the Logical Validation Layer, each with the time for
-- which it holds, and with file and line where the agreement keeps lines. The statements are
-- executed with the rights of who asks.

CREATE OR REPLACE FUNCTION omd_delivery.explained_rows(
    p_table_code text,
    p_key jsonb,
    p_column text,
    p_at timestamptz,
    OUT relation text,
    OUT interface_code text,
    OUT entity_code text,
    OUT finder text,
    OUT chain text,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $explained_rows$
DECLARE
    v_code CONSTANT text := omd.quote_table(p_table_code, 'POSTGRES');
    v_types jsonb;
    v_keys jsonb;
    v_key text;
    v_lines text;
    v_match record;
    v_exact record;
BEGIN
    SELECT
        format('%I.%I', i.lvl_schema, e.entity_code),
        i.interface_code,
        e.entity_code,
        jsonb_object_agg(a.attribute_code, a.data_type),
        jsonb_object_agg(a.attribute_code, a.data_type) FILTER (WHERE a.key_position IS NOT NULL),
        'jsonb_build_object(' || string_agg(
            format('%L, t.%I', a.attribute_code, a.attribute_code), ', ' ORDER BY a.key_position
        ) FILTER (WHERE a.key_position IS NOT NULL) || ')'
    INTO relation, interface_code, entity_code, v_types, v_keys, v_key
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    INNER JOIN omd_delivery.attribute AS a USING (entity_id)
    WHERE format('%I.%I', i.lvl_schema, e.entity_code) = v_code
    GROUP BY i.lvl_schema, i.interface_code, e.entity_code;
    IF relation IS NULL OR omd.target_relation(relation) IS NULL THEN
        relation := NULL;
        RETURN;
    END IF;
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
            'SELECT DISTINCT %s AS key FROM jsonb_to_record($1) AS k (%s)'
            ' INNER JOIN %s AS t ON %s WHERE t.acm_record_ind <> ''R'' AND %s LIMIT 2',
            v_key, v_match.definitions, relation, v_match.condition,
            CASE
                WHEN p_at IS NULL THEN format('t.acm_end_dt = %L', omd_delivery._open_end())
                ELSE 't.acm_start_dt <= $2 AND t.acm_end_dt > $2'
            END
        );
    END IF;
    SELECT
        CASE
            WHEN count(*) = 2 THEN 't.acm_source_file::integer AS file_no, t.acm_source_line::bigint'
            ELSE 'NULL::integer AS file_no, NULL::bigint'
        END
    INTO v_lines
    FROM pg_attribute AS a
    WHERE a.attrelid = omd.target_relation(relation)
        AND a.attname IN ('acm_source_file', 'acm_source_line')
        AND NOT a.attisdropped;
    v_exact := omd.key_match(
        v_keys, (SELECT jsonb_object_agg(k.name, 0) FROM jsonb_object_keys(v_keys) AS k (name))
    );
    chain := format(
        $sql$SELECT
    %s AS key,
    %s AS value,
    t.acm_start_dt AS valid_from,
    t.acm_end_dt AS valid_until,
    t.acm_record_ind::text AS record_ind,
    t.acm_audit_id AS module_instance_id,
    to_jsonb(t) - 'acm_hash_a' - 'acm_hash_b' AS record,
    %s AS line
FROM jsonb_to_record($1) AS k (%s)
INNER JOIN %s AS t ON %s
ORDER BY t.acm_start_dt$sql$,
        v_key,
        CASE WHEN p_column IS NULL THEN 'NULL' ELSE format('t.%I', p_column) END || '::text',
        v_lines,
        v_exact.definitions,
        relation,
        v_exact.condition
    );
END
$explained_rows$;

COMMENT ON FUNCTION omd_delivery.explained_rows IS
'For rooms: Returns how the row with the key p_key of the table p_table_code of the Logical '
'Validation Layer is read, with the attribute p_column (NULL: none) as value: relation, '
'interface_code and entity_code; finder, a statement that returns the key of its rows for any '
'other attributes (parameters: p_key and p_at), NULL where p_key is the key; chain, one that '
'returns all versions of a key; problem, why it can''t be read. p_at: as of when it is looked for; '
'NULL: now. All are NULL where it is no such table. Locks: none.';
