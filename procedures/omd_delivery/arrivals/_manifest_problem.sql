-- The sender lists what it sent: all of it is there, and nothing else. The hashes are compared
-- where they were computed, which costs a reading of the files.

CREATE OR REPLACE FUNCTION omd_delivery._manifest_problem(
    p_manifest jsonb,
    p_files jsonb,
    p_own text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $manifest_problem$
DECLARE
    v_problem text;
BEGIN
    IF p_manifest IS NULL OR p_manifest = 'null' THEN
        RETURN format('the manifest %s is not there', p_own);
    ELSIF jsonb_typeof(p_manifest) <> 'object'
        OR jsonb_typeof(p_manifest -> 'files') IS DISTINCT FROM 'array'
        OR EXISTS (
            SELECT FROM jsonb_array_elements(p_manifest -> 'files') AS m
            WHERE (
                jsonb_typeof(m.value) = 'object'
                AND jsonb_typeof(m.value -> 'path') = 'string'
                AND jsonb_typeof(m.value -> 'bytes') = 'number'
            ) IS NOT TRUE
        )
    THEN
        RETURN format('the manifest %s is not {"files": [{"path", "bytes", "sha256"}]}', p_own);
    END IF;
    SELECT
        CASE
            WHEN f.path IS NULL THEN format('%s of the manifest is not there', m.path)
            WHEN m.path IS NULL THEN format('%s is not in the manifest', f.path)
            WHEN m.bytes <> f.bytes
                THEN format('%s has %s bytes, and %s in the manifest', f.path, f.bytes, m.bytes)
            ELSE format('the SHA-256 of %s is not that of the manifest', f.path)
        END
    INTO v_problem
    FROM (
        SELECT l.value ->> 'path' AS path, l.value ->> 'bytes' AS bytes, l.value ->> 'sha256' AS hash
        FROM jsonb_array_elements(p_manifest -> 'files') AS l
    ) AS m
    FULL JOIN (
        SELECT l.value ->> 'path' AS path, l.value ->> 'bytes' AS bytes, l.value ->> 'sha256' AS hash
        FROM jsonb_array_elements(p_files) AS l
        WHERE l.value ->> 'path' <> p_own
    ) AS f ON m.path = f.path
    WHERE f.path IS NULL
        OR m.path IS NULL
        OR m.bytes <> f.bytes
        OR lower(m.hash) <> lower(f.hash)
    ORDER BY 1
    LIMIT 1;
    RETURN v_problem;
END
$manifest_problem$;

COMMENT ON FUNCTION omd_delivery._manifest_problem IS
'Returns why the files p_files of a folder are not those of its manifest p_manifest, the file '
'p_own; NULL: they are. Locks: none.';
