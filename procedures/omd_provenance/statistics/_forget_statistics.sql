-- ANALYZE replaces nothing where it finds no row. PostgreSQL 18 can clear a column; before, a row
-- without values is there while ANALYZE looks. A column that must have a value gets an empty one.

CREATE OR REPLACE FUNCTION omd_provenance._forget_statistics(
    p_table_code text,
    p_texts text[]
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
SET client_min_messages = error
AS $forget_statistics$
DECLARE
    v_family CONSTANT oid[] := omd_provenance._family(omd.target_relation(p_table_code));
    v_relation record;
    v_column record;
    v_is_empty boolean;
    v_problem text;
BEGIN
    SELECT 'the session does not own it' INTO v_problem
    FROM pg_class AS c
    WHERE c.oid = ANY(v_family) AND NOT pg_has_role(c.relowner, 'USAGE')
    LIMIT 1;
    IF v_problem IS NOT NULL THEN
        RETURN v_problem;
    END IF;
    -- A partition is analyzed with its table.
    FOR v_relation IN
        SELECT c.oid::regclass AS name
        FROM pg_class AS c
        WHERE c.oid = ANY(v_family) AND NOT c.relispartition AND c.relkind IN ('r', 'p')
        ORDER BY c.oid
    LOOP
        EXECUTE format('ANALYZE %s', v_relation.name);
    END LOOP;
    FOR v_relation IN
        SELECT c.oid, c.oid::regclass AS name, n.nspname, c.relname, c.relkind
        FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE c.oid = ANY(v_family) AND c.relkind IN ('r', 'p')
            AND EXISTS (
                SELECT FROM pg_stats AS s
                WHERE s.schemaname = n.nspname AND s.tablename = c.relname
                    AND coalesce(
                        s.most_common_vals::text, s.histogram_bounds::text,
                        s.most_common_elems::text
                    ) IS NOT NULL
            )
        ORDER BY c.relkind DESC, c.oid
    LOOP
        EXECUTE format(
            'SELECT NOT EXISTS (SELECT FROM %s %s)',
            CASE v_relation.relkind WHEN 'r' THEN 'ONLY' ELSE '' END, v_relation.name
        ) INTO v_is_empty;
        CONTINUE WHEN NOT v_is_empty;
        IF current_setting('server_version_num')::integer >= 180000
            AND NOT EXISTS (
                SELECT FROM pg_statistic_ext AS x WHERE x.stxrelid = v_relation.oid
            )
        THEN
            FOR v_column IN
                SELECT s.attname, s.inherited
                FROM pg_stats AS s
                WHERE s.schemaname = v_relation.nspname AND s.tablename = v_relation.relname
            LOOP
                EXECUTE 'SELECT pg_clear_attribute_stats($1, $2, $3, $4)'
                USING v_relation.nspname::text, v_relation.relname::text, v_column.attname::text,
                    v_column.inherited;
            END LOOP;
        ELSE
            -- A partitioned table has its rows in a partition.
            SELECT coalesce(omd_provenance._analyze_empty(c.oid::regclass), v_problem)
            INTO v_problem
            FROM pg_class AS c
            WHERE c.oid = ANY(v_family)
                AND c.relkind = 'r'
                AND (c.oid = v_relation.oid OR v_relation.relkind = 'p')
            ORDER BY c.oid
            LIMIT 1;
        END IF;
    END LOOP;
    IF v_problem IS NULL AND omd_provenance._shown_statistics(p_table_code, p_texts) THEN
        v_problem := 'they show a text still';
    END IF;
    RETURN v_problem;
END
$forget_statistics$;

COMMENT ON FUNCTION omd_provenance._forget_statistics IS
'Makes the statistics of the table p_table_code, its partitions and parents those of the rows that '
'are left, and returns why it could not; NULL: it could. Locks: these, against DDL.';
GRANT EXECUTE ON FUNCTION omd_provenance._forget_statistics TO omd_admin;
