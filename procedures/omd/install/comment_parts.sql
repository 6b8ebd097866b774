-- Whom something is for stands as the first words of its COMMENT. Only this function reads them and
-- cuts them off: the list of routines, the contract, the generator and the reference ask here. It
-- returns rows so that the planner can inline it.

CREATE OR REPLACE FUNCTION omd.comment_parts(
    p_comment text
)
RETURNS TABLE (
    audience text,
    comment text
)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
ROWS 1
BEGIN ATOMIC
    SELECT
        CASE m.parts[1]
            WHEN 'programs' THEN 'PROGRAM'
            WHEN 'the driver' THEN 'DRIVER'
            WHEN 'rooms' THEN 'ROOMS'
            ELSE 'PERSON'
        END AS audience,
        coalesce(m.parts[2], p_comment, '') AS comment
    FROM (
        SELECT regexp_match(p_comment, '^For (programs|the driver|rooms): *(.*)$') AS parts
    ) AS m;
END;

COMMENT ON FUNCTION omd.comment_parts IS
'For rooms: Returns one row: audience, whom that is for which has the COMMENT p_comment (PROGRAM: '
'"For programs:"; DRIVER: "For the driver:"; ROOMS: "For rooms:"; PERSON: it begins with none of '
'these words), and comment, the text without this word. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.comment_parts TO omd_reader;
