-- The text of an error that is not ours may hold values: of a row that does not fit, of what can't
-- be cast, of a statement. What stays is what the catalogue of the database knows. Texts that OMD
-- itself has written have one of its codes.

CREATE OR REPLACE FUNCTION omd.shown_error(
    p_code text,
    p_text text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_text IS NULL THEN NULL
            -- A line a member; behind its name stands why it could not begin.
            WHEN p_code = 'MEMBER FAILED'
                THEN
                    regexp_replace(
                        p_text, '( failed): [^\n]* \((?!OM)([0-9A-Z]{5})\)', '\1: error \2', 'g'
                    )
            WHEN p_code = 'TASK DEAD'
                THEN regexp_replace(p_text, '^(task .* is dead after \d+ attempts): .*$', '\1')
            -- A word is a code of OMD, and no SQLSTATE, which has five signs.
            WHEN
                p_code ~ '^[A-Z_ ]+$' AND p_code <> 'LINEAGE'
                AND (length(p_code) <> 5 OR p_code IN ('ENDED', 'RETRY'))
                THEN p_text
            -- Our messages name codes and keys; these name a value, or repeat what the code of
            -- others has said.
            WHEN
                p_code ~ '^OM[0-9]{3}$'
                AND p_code NOT IN (
                    'OM061', 'OM101', 'OM118', 'OM153', 'OM209', 'OM250', 'OM283', 'OM284', 'OM902'
                )
                THEN split_part(p_text, chr(10), 1)
            WHEN p_code ~ '^23[0-9A-Z]{3}$' THEN split_part(p_text, chr(10), 1)
            ELSE
                concat_ws(
                    ' ',
                    'error',
                    coalesce(p_code, 'without a code'),
                    'in ' || substring(p_text FROM '(?n)^PL/pgSQL function ([^( ]+)')
                )
        END;
END;

COMMENT ON FUNCTION omd.shown_error IS
'For rooms: Returns what everybody may see of the error text p_text with the code p_code: the '
'message of an error of OMD and of class 23 (which names the constraint), else its code and the '
'routine that raised it. NULL when p_text is NULL. Locks: none.';
REVOKE ALL ON FUNCTION omd.shown_error FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd.shown_error TO omd_reader;
