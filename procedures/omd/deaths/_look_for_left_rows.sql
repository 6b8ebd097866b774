-- A writer without the fence may go on when its run was declared dead, and its rows would stay for
-- ever under a green light. The look is a net and no part of the load: it reads with the rights of
-- the caller, only where that is cheap, and what it can't see stops no begin. Each round counts at
-- most 1,000 rows for each run; what may have more runs to count goes into the next one.

CREATE OR REPLACE FUNCTION omd._look_for_left_rows(
    p_module_id integer
)
RETURNS TABLE (
    module_instance_id bigint,
    row_count integer
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET lock_timeout = '1s'
AS $look_for_left_rows$
DECLARE
    v_dead record;
    v_looked bigint[] := ARRAY[]::bigint[];
    v_left bigint[] := ARRAY[]::bigint[];
    v_counts integer[] := ARRAY[]::integer[];
    v_rest bigint[];
    -- What a round has found.
    v_ids bigint[];
    v_numbers integer[];
    v_total bigint;
BEGIN
    SELECT d.* INTO v_dead FROM omd._dead_runs(p_module_id) AS d;
    IF v_dead.relation IS NOT NULL THEN
        BEGIN
            IF has_schema_privilege(
                    (SELECT c.relnamespace FROM pg_class AS c WHERE c.oid = v_dead.relation),
                    'USAGE'
                )
                AND has_column_privilege(v_dead.relation, v_dead.column_name, 'SELECT')
                AND NOT row_security_active(v_dead.relation)
                AND NOT EXISTS (
                    SELECT FROM omd._descendants(v_dead.relation) AS d (relation)
                    INNER JOIN pg_class AS c ON d.relation = c.oid
                    WHERE c.relkind NOT IN ('r', 'p')
                )
                AND (v_dead.is_indexed OR 1000 >= (
                    SELECT sum(pg_relation_size(d.relation))
                        / current_setting('block_size')::integer
                    FROM omd._descendants(v_dead.relation) AS d (relation)
                ))
            THEN
                v_rest := v_dead.instance_array;
            END IF;
            WHILE v_rest <> '{}' LOOP
                EXECUTE format(
                    'SELECT coalesce(array_agg(f.id), ''{}'') AS ids,'
                    ' coalesce(array_agg(least(f.n, 1000)::integer), ''{}'') AS numbers,'
                    ' coalesce(sum(f.n), 0)::bigint AS n FROM (SELECT r.id, count(*) AS n FROM ('
                    'SELECT t.%2$I::bigint AS id FROM %1$s AS t WHERE t.%2$I = ANY ($1)'
                    ' LIMIT $2) AS r GROUP BY r.id) AS f',
                    v_dead.table_name,
                    v_dead.column_name
                )
                INTO v_ids, v_numbers, v_total
                USING v_rest, 1000 * cardinality(v_rest);
                IF v_total < 1000 * cardinality(v_rest) THEN
                    v_rest := '{}';
                ELSE
                    SELECT
                        array_agg(f.id),
                        array_agg(f.n)
                    INTO v_ids, v_numbers
                    FROM unnest(v_ids, v_numbers) AS f (id, n)
                    WHERE f.n >= 1000;
                    v_rest := ARRAY(
                        SELECT r.id FROM unnest(v_rest) AS r (id)
                        WHERE r.id <> ALL(v_ids)
                    );
                END IF;
                v_left := v_left || v_ids;
                v_counts := v_counts || v_numbers;
            END LOOP;
            IF v_rest IS NOT NULL THEN
                v_looked := v_dead.instance_array;
            END IF;
        EXCEPTION
            WHEN OTHERS THEN
                v_looked := ARRAY[]::bigint[];
                v_left := ARRAY[]::bigint[];
                v_counts := ARRAY[]::integer[];
        END;
    END IF;
    IF current_setting('transaction_read_only') = 'off' THEN
        PERFORM omd._note_left_rows(p_module_id, v_looked, v_left, v_counts);
    END IF;
    RETURN QUERY
    SELECT f.* FROM unnest(v_left, v_counts) AS f (id, n) ORDER BY f.id;
END
$look_for_left_rows$;

COMMENT ON FUNCTION omd._look_for_left_rows IS
'Looks for rows of runs of the Module p_module_id that were declared dead, are among its last 20, '
'and were rolled back; notes in omd.left_rows what it has found, and returns it: each run with its '
'number of rows, 1,000 for that many or more. It reads with the rights of the caller, where an '
'index begins with the column of instance ids or the table has at most 1,000 '
'pages. Where the caller may not see all rows, or a lock holds the table for a second, it looks '
'at nothing. Locks: the rows that it notes.';
GRANT EXECUTE ON FUNCTION omd._look_for_left_rows TO omd_runner, omd_admin;
