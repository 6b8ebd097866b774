-- What a Module writes is its target, and what the positions of its runs, or of its facts, are
-- read for. The code of a Module of facts is that of its source.
-- OFFSET 0 keeps the order of the look-ups, whatever the statistics say.

CREATE OR REPLACE FUNCTION omd.tables_of_modules(
    p_module_ids integer[]
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $tables_of_modules$
BEGIN
    RETURN ARRAY(
        SELECT m.table_code FROM omd.module AS m
        WHERE m.module_id = ANY(p_module_ids)
        UNION
        SELECT t.table_code
        FROM omd.module AS m
        CROSS JOIN LATERAL (
            SELECT s.table_code FROM omd.source_table AS s
            WHERE s.source_code IN ('runs.' || m.module_id, m.module_code)
            OFFSET 0
        ) AS t
        WHERE m.module_id = ANY(p_module_ids)
    );
END
$tables_of_modules$;

COMMENT ON FUNCTION omd.tables_of_modules IS
'For rooms: Returns the tables, and the views over them, that runs of the Modules p_module_ids '
'write. Locks: none.';
