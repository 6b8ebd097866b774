-- Rows that are gone from LVL may be in a delta still.

CREATE OR REPLACE FUNCTION omd_delivery.subject_texts(
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
    v_target record;
    v_table text;
    v_columns text;
    v_values text[];
    v_texts text[] := '{}'::text[];
BEGIN
    FOR v_target IN SELECT s.* FROM omd_delivery._subject_sql(p_subject) AS s LOOP
        SELECT string_agg(format('l.%I', a.attribute_code), ', ' ORDER BY a.ordinal)
        INTO v_columns
        FROM omd_delivery.attribute AS a
        WHERE a.entity_id = v_target.entity_id
            AND omd_delivery.is_personal_text(a.entity_id, a.attribute_code);
        CONTINUE WHEN v_columns IS NULL;
        FOREACH v_table IN ARRAY ARRAY[v_target.lvl_table, v_target.delta_table] LOOP
            EXECUTE format(
                'SELECT array_agg(DISTINCT t.value) FROM %s AS l INNER JOIN %s ON %s'
                ' CROSS JOIN LATERAL unnest(ARRAY[%s]::text[]) AS t (value)'
                ' WHERE length(t.value) >= 5',
                v_table, v_target.keys_sql, v_target.match_sql, v_columns
            ) INTO v_values USING p_subject -> 'keys';
            v_texts := v_texts || coalesce(v_values, '{}');
        END LOOP;
    END LOOP;
    RETURN v_texts;
END
$subject_texts$;

COMMENT ON FUNCTION omd_delivery.subject_texts IS
'For rooms: Returns the texts of five characters or more that LVL and deltas have in rows of the '
'subject p_subject. Locks: none.';
