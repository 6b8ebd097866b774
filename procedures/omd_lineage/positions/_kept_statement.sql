-- To parse and to plan a small statement takes many times as long as to execute it, and a session
-- that takes many steps sends the same few statements again and again. So it keeps them prepared.
-- PostgreSQL itself plans one again when a table, a view, the role or the search_path has changed.
-- The name is made of the text, so another text never meets the plan of this one. The text is
-- compared nevertheless, since anybody who has used the session before could have given the name to
-- a statement of his own. A session may serve thousands of topics, and each plan takes memory and
-- makes the look-up longer, so only the newest ones are kept.

CREATE OR REPLACE FUNCTION omd_lineage._kept_statement(
    p_subject text,
    p_statement text
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $kept_statement$
DECLARE
    c_at_most CONSTANT integer := 60;
    v_name name := format('omd %s %s', md5(p_statement), p_subject)::name;
    v_prepare text := format('PREPARE %I %s', v_name, p_statement);
    v_former text;
BEGIN
    PERFORM FROM pg_prepared_statements AS k WHERE k.name = v_name AND k.statement = v_prepare;
    IF NOT FOUND THEN
        FOR v_former IN
            SELECT k.name FROM (
                SELECT k.name, row_number() OVER (ORDER BY k.prepare_time DESC) AS n
                FROM pg_prepared_statements AS k
                WHERE k.name ~ '^omd [0-9a-f]{32} '
            ) AS k
            WHERE k.name = v_name OR k.n >= c_at_most
        LOOP
            EXECUTE format('DEALLOCATE %I', v_former);
        END LOOP;
        EXECUTE v_prepare;
    END IF;
    RETURN quote_ident(v_name);
END
$kept_statement$;

COMMENT ON FUNCTION omd_lineage._kept_statement IS
'Keeps p_statement, (types of its parameters) AS statement, prepared in this session, and returns '
'the name to EXECUTE it by, quoted. Its columns must keep their types when tables change. '
'p_subject: what error messages shall name, for instance a view. The search_path at the EXECUTE '
'must be that of this function. Locks: those of the parser.';
GRANT EXECUTE ON FUNCTION omd_lineage._kept_statement TO omd_runner, omd_admin;
