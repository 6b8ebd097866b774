-- Rooms that offer a choice name it by a word of their own; a plan is for people.

CREATE OR REPLACE FUNCTION omd_provenance._way_again(
    p_comes_again text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE p_comes_again
            WHEN 'HAND' THEN 'by hand'
            WHEN 'FILES' THEN 'from its files'
            WHEN 'QUEUE' THEN 'from the queue'
            WHEN 'RUN' THEN 'a run'
            ELSE p_comes_again
        END;
END;

COMMENT ON FUNCTION omd_provenance._way_again IS
'Returns in words how something comes again that a room names p_comes_again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._way_again TO omd_admin;
