-- The catalogue knows what a function with an SQL-standard body depends on. So a function with the
-- statement as its body is created, looked at, and taken back. A table into which rows are only
-- inserted is in the list of those that the statement needs, and not of those that it reads: the
-- rights that it asks for say so. What the body of another routine reads, nobody knows.

CREATE OR REPLACE FUNCTION omd._statement_inputs(
    p_statement text,
    OUT p_tables text[],
    OUT p_problem text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $statement_inputs$
DECLARE
    v_statement CONSTANT text := regexp_replace(p_statement, '[\s;]+$', '');
    v_function oid;
    v_body text;
BEGIN
    IF coalesce(v_statement, '') = '' OR strpos(v_statement, ';') > 0 THEN
        p_tables := '{}';
        p_problem := 'it is not one plain statement';
        RETURN;
    END IF;
    BEGIN
        EXECUTE format(
            E'CREATE FUNCTION pg_temp.omd_statement() RETURNS void LANGUAGE sql BEGIN ATOMIC %s\n; END',
            v_statement
        );
        SELECT p.oid, p.prosqlbody::text INTO v_function, v_body
        FROM pg_proc AS p
        WHERE p.pronamespace = pg_my_temp_schema() AND p.proname = 'omd_statement';
        WITH RECURSIVE needed AS (
            SELECT
                m.part[1]::oid AS relation_id,
                bit_or(m.part[2]::bigint) AS rights
            FROM regexp_matches(
                v_body, ':relid (\d+)[^{}]*?:requiredPerms (\d+)', 'g'
            ) AS m (part)
            GROUP BY m.part[1]
        ),

        object AS (
            SELECT d.refclassid AS class_id, d.refobjid AS object_id
            FROM pg_depend AS d
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = v_function
            UNION
            SELECT d.refclassid, d.refobjid
            FROM object AS o
            CROSS JOIN LATERAL (
                -- Behind a schema with a bound a room knows what is read.
                SELECT k.refclassid, k.refobjid
                FROM pg_rewrite AS r
                INNER JOIN pg_depend AS k
                    ON k.classid = 'pg_rewrite'::regclass AND r.oid = k.objid
                WHERE o.class_id = 'pg_class'::regclass
                    AND r.ev_class = o.object_id
                    AND omd._bound_routine(o.object_id) IS NULL
                UNION ALL
                SELECT k.refclassid, k.refobjid
                FROM pg_depend AS k
                WHERE o.class_id IN ('pg_proc'::regclass, 'pg_operator'::regclass)
                    AND k.classid = o.class_id
                    AND k.objid = o.object_id
            ) AS d
            WHERE d.refclassid IN (
                'pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass
            )
        )

        SELECT
            ARRAY(
                SELECT format('%I.%I', s.nspname, c.relname)
                FROM pg_depend AS d
                INNER JOIN pg_class AS c ON d.refobjid = c.oid
                INNER JOIN pg_namespace AS s ON c.relnamespace = s.oid
                LEFT JOIN needed AS n ON c.oid = n.relation_id
                WHERE d.classid = 'pg_proc'::regclass
                    AND d.objid = v_function
                    AND d.refclassid = 'pg_class'::regclass
                    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                    AND coalesce(n.rights & 2, 2) > 0
                GROUP BY 1
                UNION
                -- What a function with a body of this kind reads is read too.
                SELECT format('%I.%I', s.nspname, c.relname)
                FROM object AS o
                INNER JOIN pg_depend AS d
                    ON o.class_id = d.classid AND o.object_id = d.objid
                INNER JOIN pg_class AS c
                    ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
                INNER JOIN pg_namespace AS s ON c.relnamespace = s.oid
                WHERE o.class_id = 'pg_proc'::regclass AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
                ORDER BY 1
            ),
            coalesce(
                (
                    SELECT format('it calls %s, of which nobody knows what it reads', p.oid::regprocedure)
                    FROM object AS o
                    INNER JOIN pg_proc AS p
                        ON o.class_id = 'pg_proc'::regclass AND o.object_id = p.oid
                    INNER JOIN pg_namespace AS s ON p.pronamespace = s.oid
                    WHERE p.prosqlbody IS NULL
                        AND s.nspname <> 'pg_catalog'
                        AND s.nspname !~ '^omd(_|$)'
                    ORDER BY p.oid
                    LIMIT 1
                ),
                (
                    SELECT format(
                        'it writes %s, whose trigger %I may read', t.tgrelid::regclass, t.tgname
                    )
                    FROM needed AS n
                    INNER JOIN pg_trigger AS t ON n.relation_id = t.tgrelid
                    INNER JOIN pg_proc AS p ON t.tgfoid = p.oid
                    INNER JOIN pg_namespace AS s ON p.pronamespace = s.oid
                    WHERE n.rights & 13 > 0
                        AND NOT t.tgisinternal
                        AND t.tgenabled <> 'D'
                        AND s.nspname !~ '^omd(_|$)'
                    ORDER BY t.oid
                    LIMIT 1
                ),
                (
                    SELECT format('it writes %s, which has a rule', r.ev_class::regclass)
                    FROM needed AS n
                    INNER JOIN pg_rewrite AS r ON n.relation_id = r.ev_class
                    WHERE n.rights & 13 > 0 AND r.ev_type <> '1'
                    ORDER BY r.oid
                    LIMIT 1
                )
            )
        INTO p_tables, p_problem;
        RAISE no_data_found;
    EXCEPTION
        WHEN no_data_found THEN
            IF p_tables IS NULL THEN
                RAISE;
            END IF;
        WHEN OTHERS THEN
            p_tables := NULL;
            p_problem := SQLERRM;
    END;
END
$statement_inputs$;

COMMENT ON FUNCTION omd._statement_inputs IS
'Returns the tables and views that p_statement reads, as the catalogue knows them (p_tables), '
'and why that may not be all (p_problem; NULL: it is). p_tables is NULL where the caller can''t '
'name the tables, or nobody can. Locks: those of naming them.';
GRANT EXECUTE ON FUNCTION omd._statement_inputs TO omd_runner, omd_admin;
