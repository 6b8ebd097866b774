-- What a view depends on is what its query names, whatever it does with it.

CREATE OR REPLACE FUNCTION omd_event._view_reads(
    p_relation oid
)
RETURNS TABLE (table_code text, column_name text)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT DISTINCT
        format('%I.%I', n.nspname, c.relname) AS table_code,
        a.attname::text AS column_name
    FROM pg_rewrite AS r
    INNER JOIN pg_depend AS d
        ON
            d.classid = 'pg_rewrite'::regclass
            AND r.oid = d.objid
            AND d.refclassid = 'pg_class'::regclass
            AND d.refobjsubid > 0
    INNER JOIN pg_class AS c ON d.refobjid = c.oid
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    INNER JOIN pg_attribute AS a ON d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
    WHERE r.ev_class = p_relation AND d.refobjid <> p_relation;
END;

COMMENT ON FUNCTION omd_event._view_reads IS
'Returns the columns of tables and views that the view p_relation names. Locks: none.';
