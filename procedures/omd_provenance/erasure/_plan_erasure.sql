-- The keys of what refers are looked up before anything goes. They are erased before the person, so
-- that nothing refers to his anchor any more.

CREATE OR REPLACE FUNCTION omd_provenance._plan_erasure(
    p_subject jsonb,
    p_with_references boolean,
    OUT p_subjects jsonb,
    OUT p_texts text[],
    OUT p_items jsonb
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plan_erasure$
DECLARE
    v_reference record;
    v_subject jsonb;
BEGIN
    PERFORM omd_delivery.hold_interface(p_subject ->> 'interface');
    PERFORM omd_facts.hold_erasure(p_subject ->> 'interface');
    p_subjects := '[]';
    p_items := '[]';
    FOR v_reference IN
        WITH found AS MATERIALIZED (
            SELECT r.*
            FROM jsonb_build_object('targets', p_subject -> 'references') AS t (document)
            CROSS JOIN LATERAL omd_delivery.count_references(p_subject || t.document) AS r
            UNION ALL
            SELECT r.*
            FROM jsonb_build_object('targets', p_subject -> 'references') AS t (document)
            CROSS JOIN LATERAL omd_facts.count_references(p_subject || t.document) AS r
        )

        SELECT
            f.entity_code,
            jsonb_agg(
                jsonb_build_object(
                    'layer', 'REFERENCE', 'table_code', f.table_code, 'outcome', 'KEPT',
                    'key_count', f.key_count, 'row_count', f.row_count,
                    'text', 'these rows name the key'
                )
                ORDER BY f.table_code
            ) FILTER (WHERE f.row_count > 0) AS items,
            (
                SELECT jsonb_agg(DISTINCT k.key)
                FROM found AS g
                CROSS JOIN LATERAL jsonb_array_elements(g.keys) AS k (key)
                WHERE g.entity_code = f.entity_code
                    -- A person may refer to himself.
                    AND NOT (
                        g.entity_code = p_subject ->> 'entity'
                        AND k.key IN (SELECT jsonb_array_elements(p_subject -> 'keys'))
                    )
            ) AS keys
        FROM (
            SELECT n.entity_code, n.table_code, max(n.key_count) AS key_count,
                sum(n.row_count) AS row_count
            FROM found AS n
            GROUP BY n.entity_code, n.table_code
        ) AS f
        GROUP BY f.entity_code
        ORDER BY f.entity_code
    LOOP
        CONTINUE WHEN v_reference.keys IS NULL;
        -- Another person who refers to this one is not to be forgotten with him.
        IF p_with_references
            AND NOT p_subject -> 'targets' @> jsonb_build_array(
                jsonb_build_object('entity', v_reference.entity_code)
            )
        THEN
            v_subject := omd_provenance._subject(
                p_subject ->> 'interface', v_reference.entity_code, v_reference.keys
            );
            p_subjects := p_subjects || (v_subject || jsonb_build_object('layer', 'REFERENCE'));
        ELSE
            p_items := p_items || coalesce(v_reference.items, '[]');
        END IF;
    END LOOP;
    p_subjects := p_subjects || p_subject;
    -- The longest first, and as they are written in JSON and in the literals of values and rows.
    SELECT coalesce(array_agg(x.text ORDER BY length(x.text) DESC, x.text), '{}') INTO p_texts
    FROM (
        SELECT DISTINCT w.text
        FROM jsonb_array_elements(p_subjects) AS s (subject)
        CROSS JOIN LATERAL (
            SELECT unnest(
                omd_delivery.subject_texts(s.subject) || omd_facts.subject_texts(s.subject)
            )
            UNION ALL
            SELECT k.key ->> n.code
            FROM jsonb_array_elements(s.subject -> 'keys') AS k (key)
            CROSS JOIN unnest(
                ARRAY(SELECT jsonb_array_elements_text(s.subject -> 'key')),
                ARRAY(SELECT jsonb_array_elements_text(s.subject -> 'types'))
            ) AS n (code, data_type)
            WHERE (n.data_type = 'text' OR n.data_type LIKE 'character varying%')
                AND length(k.key ->> n.code) >= 5
        ) AS t (text)
        CROSS JOIN LATERAL (
            SELECT t.text
            UNION ALL
            SELECT btrim(to_jsonb(t.text)::text, '"')
            UNION ALL
            SELECT replace(t.text, '''', '''''')
            UNION ALL
            SELECT replace(replace(t.text, '\', '\\'), '"', '""')
        ) AS w (text)
        WHERE length(w.text) >= 5
    ) AS x;
END
$plan_erasure$;

COMMENT ON FUNCTION omd_provenance._plan_erasure IS
'Keeps others away from the interface of p_subject, and returns what is to be erased: p_subjects, '
'what refers to it first, if p_with_references; their texts p_texts; and p_items of what refers '
'and stays. Errors: OM159: readers are at work. Locks: the interface in both rooms, its position, '
'against readers.';
GRANT EXECUTE ON FUNCTION omd_provenance._plan_erasure TO omd_admin;
