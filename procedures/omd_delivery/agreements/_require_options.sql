-- A misspelt option would be ignored in silence.

CREATE OR REPLACE FUNCTION omd_delivery._require_options(
    p_options jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_options$
DECLARE
    v_option record;
BEGIN
    IF p_options IS NULL OR p_options = 'null' THEN
        RETURN NULL;
    ELSIF jsonb_typeof(p_options) <> 'object' THEN
        PERFORM omd_delivery._raise_argument(
            'p_options', p_options::text, 'it must be an object'
        );
    END IF;
    SELECT
        o.key,
        o.value,
        o.key IN (
            'allow_symbolic_links',
            'csv',
            'export',
            'include_existing',
            'lines',
            'max_concurrent_entities',
            'max_sample_size'
        ) AS is_known
    INTO v_option
    FROM jsonb_each(p_options) AS o
    WHERE CASE o.key
        WHEN 'allow_symbolic_links' THEN jsonb_typeof(o.value) <> 'boolean'
        WHEN 'csv' THEN jsonb_typeof(o.value) <> 'object' OR EXISTS (
            SELECT FROM jsonb_each(o.value) AS c
            WHERE c.key NOT IN (
                'field_terminator', 'row_terminator', 'code_page', 'first_row_is_header', 'quote',
                'datafile_type', 'file_extension'
            )
        )
        WHEN 'export' THEN jsonb_typeof(o.value) <> 'object'
        WHEN 'include_existing' THEN jsonb_typeof(o.value) <> 'boolean'
        WHEN 'lines' THEN jsonb_typeof(o.value) <> 'boolean'
        WHEN 'max_concurrent_entities' THEN o.value::text !~ '^[1-9][0-9]{0,3}$'
        WHEN 'max_sample_size' THEN o.value::text !~ '^(0|[1-9][0-9]{0,6})$'
        ELSE TRUE
    END
    ORDER BY o.key COLLATE "C"
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_delivery._raise_argument(
            'p_options',
            jsonb_build_object(v_option.key, v_option.value)::text,
            CASE
                WHEN v_option.is_known THEN 'its value is not allowed'
                ELSE 'there is no such option'
            END
        );
    END IF;
    RETURN p_options;
END
$require_options$;

COMMENT ON FUNCTION omd_delivery._require_options IS
'Returns p_options when it is an object of options of an agreement, NULL for NULL. Errors: '
'OM036: it is none. Locks: none.';
