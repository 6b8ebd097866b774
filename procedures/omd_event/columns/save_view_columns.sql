-- What was found counts for the text that was parsed: when somebody has replaced the view
-- meanwhile, nothing uses it.

CREATE OR REPLACE PROCEDURE omd_event.save_view_columns(
    p_view_code text,
    p_view_text text,
    p_fields jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_view_columns$
DECLARE
    v_code CONSTANT text := omd.spell_table(p_view_code);
BEGIN
    p_view_code := omd.require_argument('p_view_code', p_view_code);
    p_view_text := omd.require_argument('p_view_text', p_view_text);
    p_fields := omd.require_argument('p_fields', p_fields);
    IF v_code IS NULL OR omd.target_relation(v_code) IS NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_view_code', 'value', p_view_code, 'expected', 'a view, schema.name'
            )
        );
    ELSIF jsonb_typeof(p_fields) <> 'object'
        OR EXISTS (
            SELECT
            FROM jsonb_each(
                CASE WHEN jsonb_typeof(p_fields) = 'object' THEN p_fields ELSE '{}' END
            ) AS f
            LEFT JOIN LATERAL jsonb_array_elements(
                CASE WHEN jsonb_typeof(f.value) = 'array' THEN f.value ELSE '[]' END
            ) AS i (item) ON TRUE
            WHERE jsonb_typeof(f.value) <> 'array'
                OR i.item IS NOT NULL
                AND (
                    jsonb_typeof(i.item -> 'table'),
                    jsonb_typeof(i.item -> 'column'),
                    jsonb_typeof(i.item -> 'subtype')
                ) IS DISTINCT FROM ('string', 'string', 'string')
        )
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_fields',
                'value', left(p_fields::text, 100),
                'expected', 'an object of lists of objects with table, column and subtype'
            )
        );
    END IF;
    INSERT INTO omd_event.view_columns AS k (view_code, view_text, fields)
    VALUES (v_code, p_view_text, p_fields)
    ON CONFLICT (view_code) DO UPDATE SET
        view_text = excluded.view_text,
        fields = excluded.fields,
        parsed_datetime = clock_timestamp(),
        parsed_by = session_user
    WHERE (k.view_text, k.fields) IS DISTINCT FROM (excluded.view_text, excluded.fields);
    IF FOUND THEN
        PERFORM omd_event._log_edit('the columns of ' || v_code, 'a parser has found them');
    END IF;
END
$save_view_columns$;

COMMENT ON PROCEDURE omd_event.save_view_columns IS
'For the driver: '
'Keeps from which columns those of a transform view come, as omd send --openlineage has found it. '
'p_view_code: the view. p_view_text: the text that was parsed, of transform_views. p_fields: an '
'object that has for each column a list of objects with table, column and subtype. Errors: OM005: '
'an argument is NULL; OM013: there is no such view, or p_fields is no such object. Locks: the row '
'of the view. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_event.save_view_columns TO omd_admin;
