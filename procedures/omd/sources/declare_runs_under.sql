-- Who reads a view waits for the runs that write the tables under it.

CREATE OR REPLACE FUNCTION omd.declare_runs_under(
    p_table_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $declare_runs_under$
BEGIN
    PERFORM omd.declare_runs(w.module_id, ARRAY[p_table_code])
    FROM (
        SELECT m.module_id
        FROM omd.relations_under(omd.target_relation(p_table_code)) AS r
        INNER JOIN omd.module AS m ON r.relation_id = omd.target_relation(m.table_code)
        WHERE m.platform_code = 'POSTGRES'
        UNION
        -- A room has declared another table that the Module writes.
        SELECT substr(t.source_code, 6)::integer
        FROM omd.relations_under(omd.target_relation(p_table_code)) AS r
        INNER JOIN pg_class AS c ON r.relation_id = c.oid
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        INNER JOIN omd.source_table AS t ON t.table_code = format('%I.%I', n.nspname, c.relname)
        INNER JOIN omd.source AS s ON t.source_code = s.source_code
        WHERE s.source_kind_code = 'RUNS'
    ) AS w
    WHERE NOT EXISTS (
        SELECT FROM omd.source_table AS t
        WHERE t.table_code = p_table_code AND t.source_code = 'runs.' || w.module_id
    ) OR NOT EXISTS (
        SELECT FROM omd.module AS m WHERE m.module_id = w.module_id AND m.is_source
    )
    ORDER BY w.module_id;
END
$declare_runs_under$;

COMMENT ON FUNCTION omd.declare_runs_under IS
'For rooms: Declares the runs of every Module that writes the table p_table_code, or a table under '
'the view p_table_code, since somebody reads it by the time at which its rows were written. Locks: '
'the Module rows; the sources.';
