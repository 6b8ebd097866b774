-- A statement that only reads writes no rows, though SELECT f() reports one row whatever f does.
-- Comments, literals and what stands in parentheses are removed first, so that the first verb that
-- is left is the statement's own, also after a WITH.

CREATE OR REPLACE FUNCTION omd._written_rows(
    p_executable text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $written_rows$
DECLARE
    v_text text := regexp_replace(
        regexp_replace(p_executable, '[$]([[:alnum:]_]*?)[$].*?[$]\1[$]', ' x ', 'g'),
        '--[^\n]*|/[*](?:[^*]|[*]+[^*/])*[*]+/|''(?:[^'']|'''')*''|"(?:[^"]|"")*"', ' x ', 'g'
    );
    v_shorter text;
BEGIN
    LOOP
        v_shorter := regexp_replace(v_text, '\([^()]*\)', ' ', 'g');
        EXIT WHEN v_shorter = v_text;
        v_text := v_shorter;
    END LOOP;
    v_text := lower(substring(v_text FROM '([^;]*[^;[:space:]][^;]*)[;[:space:]]*$'));
    RETURN CASE
        substring(v_text FROM '\m(insert|merge|update|delete|select|values|copy|create)\M')
        WHEN 'insert' THEN 'inserted'
        WHEN 'merge' THEN 'inserted'
        WHEN 'update' THEN 'updated'
        WHEN 'delete' THEN 'deleted'
        WHEN 'create' THEN 'inserted'
        WHEN 'copy' THEN CASE WHEN v_text ~ '\mfrom\M' THEN 'inserted' END
    END;
END
$written_rows$;

COMMENT ON FUNCTION omd._written_rows IS
'Returns what the last statement of the SQL p_executable does with the rows that it counts: '
'inserted (also for MERGE), updated or deleted; NULL when it writes none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._written_rows TO omd_runner;
