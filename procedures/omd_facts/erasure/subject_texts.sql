-- Delivery knows which attributes are texts of people; here are those that were never delivered.

CREATE OR REPLACE FUNCTION omd_facts.subject_texts(
    p_subject jsonb
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $subject_texts$
DECLARE
    v_context record;
    v_target record;
    v_values text[];
    v_texts text[] := '{}'::text[];
BEGIN
    FOR v_target IN SELECT s.* FROM omd_facts._subject_sql(p_subject) AS s LOOP
        FOR v_context IN
            SELECT
                format('%I.%I', v_target.cfl, c.context_table) AS name,
                string_agg(format('o.%I', a.attribute_code), ', ' ORDER BY a.ordinal) AS columns
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.context AS c USING (entity_id)
            INNER JOIN omd_facts.attribute AS a ON c.context_id = a.context_id
            WHERE CASE
                WHEN v_target.entity_kind = 'CONTEXT' THEN e.entity_id = v_target.entity_id
                ELSE e.anchor_entity_id = v_target.entity_id
            END
                AND omd_delivery.is_personal_text(e.entity_id, a.attribute_code)
            GROUP BY c.context_id
            ORDER BY c.context_id
        LOOP
            EXECUTE format(
                'SELECT array_agg(DISTINCT t.value) FROM %s AS a INNER JOIN %s AS o'
                ' ON a.acm_id = o.acm_id INNER JOIN %s ON %s'
                ' CROSS JOIN LATERAL unnest(ARRAY[%s]::text[]) AS t (value)'
                ' WHERE length(t.value) >= 5',
                v_target.anchor, v_context.name, v_target.keys_sql, v_target.match_sql,
                v_context.columns
            ) INTO v_values USING p_subject -> 'keys';
            v_texts := v_texts || coalesce(v_values, '{}');
        END LOOP;
    END LOOP;
    RETURN v_texts;
END
$subject_texts$;

COMMENT ON FUNCTION omd_facts.subject_texts IS
'For rooms: Returns the texts of five characters or more that contexts have in rows of the subject '
'p_subject. Locks: none.';
