-- Which of the row counts of a run is the number of rows that its last statement reports: none when
-- that statement only reads, since SELECT f() reports one row whatever f does. Comments, literals
-- and what is in parentheses are taken away, so that the first verb left is the statement's own,
-- behind a WITH too.

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
'What the last statement of the SQL p_executable does with the rows it counts: inserted (a MERGE '
'too), updated or deleted; NULL when it writes none. Locks: none.';
REVOKE ALL ON FUNCTION omd._written_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._written_rows TO omd_runner;
