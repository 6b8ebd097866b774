-- Documents that people write are read whole, their paths are named, and they are given back. So
-- they are bounded, and the driver has the same bounds. That a document is not too deep is one
-- question; only where it is, its path is looked for.

CREATE OR REPLACE FUNCTION omd.document_problem(
    p_document jsonb,
    OUT path text,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $document_problem$
DECLARE
    v_max_depth CONSTANT integer := 64;
    v_max_bytes CONSTANT integer := 10000000;
    v_node jsonb := p_document;
    v_step text;
BEGIN
    IF octet_length(p_document::text) > v_max_bytes THEN
        path := '';
        problem := format('the document has more than %s bytes', v_max_bytes);
    ELSIF jsonb_path_exists(
        p_document, ('strict $.**{' || v_max_depth || '}')::jsonpath, silent => TRUE
    ) THEN
        path := '';
        problem := format('it is nested more than %s deep', v_max_depth);
        FOR v_below IN REVERSE v_max_depth - 1..0 LOOP
            SELECT s.step, s.node INTO v_step, v_node
            FROM (
                SELECT '.' || o.key AS step, o.value AS node, 0 AS place
                FROM jsonb_each(
                    CASE jsonb_typeof(v_node) WHEN 'object' THEN v_node ELSE '{}' END
                ) AS o
                UNION ALL
                SELECT format('[%s]', a.place - 1) AS step, a.node, a.place
                FROM jsonb_array_elements(
                    CASE jsonb_typeof(v_node) WHEN 'array' THEN v_node ELSE '[]' END
                ) WITH ORDINALITY AS a (node, place)
            ) AS s
            WHERE jsonb_path_exists(
                s.node, ('strict $.**{' || v_below || '}')::jsonpath, silent => TRUE
            )
            ORDER BY s.place, s.step
            LIMIT 1;
            path := path || v_step;
        END LOOP;
        path := left(ltrim(path, '.'), 200);
    END IF;
END
$document_problem$;

COMMENT ON FUNCTION omd.document_problem IS
'For rooms: Returns the path of what is out of bounds in the document p_document, and the '
'problem: it has more than 10,000,000 bytes, or is nested more than 64 deep. NULLs: it is within '
'them. Locks: none.';
