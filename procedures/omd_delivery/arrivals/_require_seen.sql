-- It is said by a program, so one error with the first folder that is wrong is enough.

CREATE OR REPLACE FUNCTION omd_delivery._require_seen(
    p_seen jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_seen$
DECLARE
    v_wrong jsonb;
BEGIN
    IF p_seen IS NULL THEN
        RETURN;
    ELSIF jsonb_typeof(p_seen) <> 'array' THEN
        PERFORM omd_delivery._raise_argument(
            'p_seen', p_seen::text, 'it must be a list of folders'
        );
    END IF;
    SELECT s.value INTO v_wrong
    FROM jsonb_array_elements(p_seen) AS s
    WHERE CASE
        WHEN jsonb_typeof(s.value) <> 'object' THEN TRUE
        WHEN jsonb_typeof(s.value -> 'folder') IS DISTINCT FROM 'string'
            OR s.value ->> 'folder' = ''
            OR (s.value -> 'kind' IN ('"FOLDER"', '"FILE"', '"LINK"')) IS NOT TRUE
            THEN TRUE
        WHEN jsonb_typeof(s.value -> 'files') = 'array' THEN EXISTS (
            SELECT FROM jsonb_array_elements(s.value -> 'files') AS f
            WHERE CASE
                WHEN jsonb_typeof(f.value) <> 'object' THEN TRUE
                ELSE (
                    jsonb_typeof(f.value -> 'path') = 'string'
                    AND f.value ->> 'path' <> ''
                    AND jsonb_typeof(f.value -> 'bytes') = 'number'
                    AND f.value ->> 'bytes' ~ '^[0-9]{1,18}$'
                    AND jsonb_typeof(f.value -> 'modified') IN ('string', 'number')
                ) IS NOT TRUE
            END
        )
        ELSE jsonb_typeof(s.value -> 'files') <> 'null'
    END
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd_delivery._raise_argument(
            'p_seen', v_wrong::text,
            'it is {folder, kind FOLDER, FILE or LINK, files: [{path, bytes, modified}], manifest}'
        );
    END IF;
END
$require_seen$;

COMMENT ON FUNCTION omd_delivery._require_seen IS
'Refuses p_seen when it is no list of folders as report_arrivals takes it. Errors: OM036: it is '
'none. Locks: none.';
