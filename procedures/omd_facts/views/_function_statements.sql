-- A reader finds a function without a lock, reads its text, and waits for a deployment only at the
-- tables in it; a view that has got a column meanwhile would not fit that text. So a function
-- returns the rows of a view of its own, which never changes. When the columns do, the function
-- gets another name, for those who have it already, and a new one takes its place. The next one of
-- that kind drops it.

CREATE OR REPLACE FUNCTION omd_facts._function_statements(
    p_schema_name text,
    p_view_name text,
    p_query text,
    p_arguments text,
    p_body text
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function_statements$
DECLARE
    v_prefix CONSTANT text := '_' || left(p_view_name, 40) || '_';
    v_type_name CONSTANT text := v_prefix || left(md5(p_query), 8);
    v_type CONSTANT text := format('%I.%I', p_schema_name, v_type_name);
    v_types CONSTANT text := regexp_replace(p_arguments, 'p_\w+ ', '', 'g');
    v_name CONSTANT text := format('%I.%I', p_schema_name, p_view_name);
    v_old record;
BEGIN
    IF to_regclass(v_type) IS NULL THEN
        RETURN NEXT format(E'CREATE OR REPLACE VIEW %s AS\n%s', v_type, p_query);
    END IF;
    SELECT
        p.oid,
        p.proacl,
        p.proowner,
        CASE
            WHEN t.relname LIKE '\_%' THEN t.relname::text
            ELSE v_prefix || '00000000'
        END AS type_name
    INTO v_old
    FROM pg_proc AS p
    LEFT JOIN pg_class AS t ON p.prorettype = t.reltype
    WHERE p.oid = to_regprocedure(format('%s(%s)', v_name, v_types))
        AND p.prorettype IS DISTINCT FROM (
            SELECT c.reltype FROM pg_class AS c WHERE c.oid = to_regclass(v_type)
        );
    IF v_old.oid IS NOT NULL THEN
        RETURN QUERY
        SELECT format('DROP FUNCTION IF EXISTS %s', p.oid::regprocedure)
        FROM pg_proc AS p
        WHERE p.pronamespace = to_regnamespace(quote_ident(p_schema_name))
            AND p.proname ~ ('^' || v_prefix || '[0-9a-f]{8}$');
        RETURN QUERY
        SELECT format('DROP VIEW IF EXISTS %I.%I', p_schema_name, c.relname)
        FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace(quote_ident(p_schema_name))
            AND c.relname ~ ('^' || v_prefix || '[0-9a-f]{8}$')
            AND c.relname NOT IN (v_type_name, v_old.type_name);
        RETURN NEXT format(
            'ALTER FUNCTION %s(%s) RENAME TO %I', v_name, v_types, v_old.type_name
        );
    END IF;
    RETURN NEXT format(
        E'CREATE OR REPLACE FUNCTION %s(%s)\nRETURNS SETOF %s\n'
        'LANGUAGE sql STABLE PARALLEL SAFE\nAS $at$\n%s\n$at$',
        v_name, p_arguments, v_type, p_body
    );
    RETURN NEXT format('REVOKE ALL ON FUNCTION %s(%s) FROM PUBLIC', v_name, v_types);
    RETURN NEXT format('GRANT EXECUTE ON FUNCTION %s(%s) TO omd_data_reader', v_name, v_types);
    IF v_old.oid IS NOT NULL THEN
        RETURN QUERY
        SELECT format(
            'GRANT EXECUTE ON FUNCTION %s(%s) TO %s%s',
            v_name,
            v_types,
            CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END,
            CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
        )
        FROM aclexplode(v_old.proacl) AS a
        WHERE a.grantee NOT IN (v_old.proowner, 'omd_data_reader'::regrole);
    END IF;
END
$function_statements$;

COMMENT ON FUNCTION omd_facts._function_statements IS
'Returns the statements that make the function of p_arguments beside the as-of view p_view_name in '
'p_schema_name: p_body over the columns of p_query. Locks: none.';
