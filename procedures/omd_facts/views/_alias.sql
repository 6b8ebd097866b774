-- Aliases of the views.

CREATE OR REPLACE FUNCTION omd_facts._alias(
    p_context_id integer,
    p_existence_id integer
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p_context_id = p_existence_id THEN 'p' ELSE 'c' || p_context_id END;
END;

COMMENT ON FUNCTION omd_facts._alias IS
'Returns the alias of the context p_context_id in the views of an entity whose existence '
'p_existence_id says. Locks: none.';
