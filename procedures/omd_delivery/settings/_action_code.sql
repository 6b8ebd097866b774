-- The words are for documents, the letters for the registry.

CREATE OR REPLACE FUNCTION omd_delivery._action_code(
    p_action text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE upper(p_action COLLATE "C")
            WHEN 'S' THEN 'S'
            WHEN 'SKIP ROW' THEN 'S'
            WHEN 'E' THEN 'E'
            WHEN 'EMPTY COLUMN' THEN 'E'
            WHEN 'N' THEN 'N'
            WHEN 'NO ACTION' THEN 'N'
        END;
END;

COMMENT ON FUNCTION omd_delivery._action_code IS
'Returns the letter of the action p_action, which is written as a letter or in words: S SKIP ROW, '
'E EMPTY COLUMN, N NO ACTION; NULL for anything else. Locks: none.';
