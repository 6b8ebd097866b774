-- A file system says when a file was written in milliseconds, as a number or as a time; what it
-- says besides is no time.

CREATE OR REPLACE FUNCTION omd_delivery._listed_files(
    p_files jsonb
)
RETURNS TABLE (
    file_no integer,
    entity_code text,
    uri text,
    bytes bigint,
    modified_datetime timestamptz,
    root text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $listed_files$
DECLARE
    v_wrong jsonb;
BEGIN
    IF jsonb_typeof(p_files) <> 'array' THEN
        v_wrong := p_files;
    ELSE
        SELECT f.value INTO v_wrong
        FROM jsonb_array_elements(p_files) AS f
        WHERE CASE
            WHEN jsonb_typeof(f.value) <> 'object' THEN TRUE
            ELSE (
                jsonb_typeof(f.value -> 'uri') = 'string'
                AND f.value ->> 'uri' ~ '\S'
                AND jsonb_typeof(f.value -> 'bytes') = 'number'
                AND f.value ->> 'bytes' ~ '^[0-9]{1,18}$'
                AND CASE jsonb_typeof(coalesce(f.value -> 'modified', 'null'))
                    WHEN 'null' THEN TRUE
                    WHEN 'number' THEN f.value ->> 'modified' ~ '^-?[0-9]{1,14}$'
                    WHEN 'string' THEN f.value ->> 'modified' ~ '^[0-9]{4,6}-'
                END
                AND jsonb_typeof(coalesce(f.value -> 'root', '""')) = 'string'
            ) IS NOT TRUE
        END
        LIMIT 1;
    END IF;
    IF v_wrong IS NOT NULL THEN
        PERFORM omd_delivery._raise_argument(
            'p_files', v_wrong::text, 'it must be a list of {uri, bytes, modified, root}'
        );
    END IF;
    BEGIN
        RETURN QUERY
        SELECT
            f.place::integer,
            f.value ->> 'entity',
            f.value ->> 'uri',
            (f.value ->> 'bytes')::bigint,
            CASE jsonb_typeof(f.value -> 'modified')
                WHEN 'number' THEN to_timestamp((f.value ->> 'modified')::numeric / 1000)
                WHEN 'string' THEN date_trunc('milliseconds', (f.value ->> 'modified')::timestamptz)
            END,
            coalesce(f.value ->> 'root', f.value ->> 'uri')
        FROM jsonb_array_elements(p_files) WITH ORDINALITY AS f (value, place);
    EXCEPTION
        WHEN data_exception THEN
            PERFORM omd_delivery._raise_argument('p_files', p_files::text, SQLERRM);
    END;
END
$listed_files$;

COMMENT ON FUNCTION omd_delivery._listed_files IS
'Returns the files of p_files, [{uri, bytes, modified, root, entity}], numbered from 1; modified '
'may be a time or milliseconds since 1970, root is the uri where it is left out. Errors: OM036: '
'it is no such list. Locks: none.';
