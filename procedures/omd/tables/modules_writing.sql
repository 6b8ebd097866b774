-- A table is written by the Modules whose target it is, also through a view or a parent, and by
-- those whose room has declared it.

CREATE OR REPLACE FUNCTION omd.modules_writing(
    p_table_code text
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $modules_writing$
DECLARE
    v_names CONSTANT text[] := omd.relations_over(p_table_code) || p_table_code;
BEGIN
    RETURN ARRAY(
        SELECT m.module_id FROM omd.module AS m WHERE m.table_code = ANY(v_names)
        UNION
        SELECT substr(t.source_code, 6)::integer
        FROM omd.source_table AS t
        INNER JOIN omd.source AS s ON t.source_code = s.source_code
        WHERE t.table_code = ANY(v_names)
            AND s.source_kind_code = 'RUNS'
            AND t.source_code ~ '^runs\.\d+$'
    );
END
$modules_writing$;

COMMENT ON FUNCTION omd.modules_writing IS
'For rooms: returns the Modules whose runs write p_table_code, a table as omd.base_tables names '
'it. Locks: none.';
