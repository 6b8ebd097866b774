-- Whoever writes a text chooses its first word, so this is no class because it looks like one. A
-- driver reports the class of an error beside the text.

CREATE OR REPLACE FUNCTION omd_dispatch._class_of_error(
    p_error text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT c.class_name FROM omd_dispatch.error_class AS c
    WHERE c.class_name = substring(p_error FROM '^([A-Za-z0-9_.]{1,200}): ');
END;

COMMENT ON FUNCTION omd_dispatch._class_of_error IS
'Returns the class with which the error p_error of a task begins; NULL where a driver has reported '
'none of that name. Locks: none.';
