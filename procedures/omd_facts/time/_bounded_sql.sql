-- An open row ends at 9999-12-31, so a moment after that, infinity too, is brought before it.

CREATE OR REPLACE FUNCTION omd_facts._bounded_sql(
    p_at text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT format('least(%s, ''9999-12-30 00:00:00+00''::timestamptz)', p_at);
END;

COMMENT ON FUNCTION omd_facts._bounded_sql IS
'Returns the expression of the moment that the expression p_at gives, but of none after all '
'transaction times: that is also what NULL becomes. Locks: none.';
