-- A table of facts has one source. A run asks by a function, since a view would stay locked as long
-- as the run takes.

CREATE OR REPLACE FUNCTION omd.source_of(
    p_table_code text,
    p_source_kind_code text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT min(t.source_code)
    FROM omd.source_table AS t
    INNER JOIN omd.source AS s ON t.source_code = s.source_code
    WHERE t.table_code = p_table_code AND s.source_kind_code = p_source_kind_code;
END;

COMMENT ON FUNCTION omd.source_of IS
'For rooms: Returns the source of the kind p_source_kind_code by which the table or view '
'p_table_code is read; NULL: there is none. Locks: none.';
