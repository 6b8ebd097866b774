-- The name of a lake table lives in no database, so its parts are not cut to the length of a name
-- in PostgreSQL, as those of quote_table are.

CREATE OR REPLACE FUNCTION omd.spell_table(
    p_table_code text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $spell_table$
BEGIN
    RETURN (
        SELECT string_agg(quote_ident(p.part), '.' ORDER BY p.n)
        FROM unnest(parse_ident(p_table_code)) WITH ORDINALITY AS p (part, n)
    );
EXCEPTION
    WHEN invalid_parameter_value THEN
        RETURN NULL;
END
$spell_table$;

COMMENT ON FUNCTION omd.spell_table IS
'For rooms: Returns the table code p_table_code in the one spelling under which OMD keeps a lake '
'table: each part as quote_ident writes it; NULL when it is no name. No locks.';
