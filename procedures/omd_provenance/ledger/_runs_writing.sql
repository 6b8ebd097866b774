-- It is the other side of omd_provenance._readers_of_run. Each run of a Module writes the tables of
-- the Module, so these are looked up once; only loads of facts, and what a run itself has said,
-- differ.

CREATE OR REPLACE FUNCTION omd_provenance._runs_writing(
    p_table_code text,
    p_reader omd.ledger_run,
    p_all boolean
)
RETURNS TABLE (
    id bigint,
    stands boolean,
    execution_status_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $runs_writing$
DECLARE
    v_entity_modules CONSTANT integer[] := omd_facts.writers_of_entity(p_table_code);
    v_modules CONSTANT integer[] := ARRAY(
        SELECT unnest(coalesce(v_entity_modules, omd.modules_writing(p_table_code)))
        UNION
        SELECT unnest(omd_lake.modules_writing(p_table_code))
    );
    v_whole_modules CONSTANT integer[] := ARRAY(
        SELECT w.module_id
        FROM unnest(v_modules) AS w (module_id)
        WHERE v_entity_modules IS NULL
            AND p_table_code = ANY(omd.base_tables_of_module(w.module_id))
    );
BEGIN
    RETURN QUERY
    SELECT s.module_instance_id, omd_provenance._stands(s), s.execution_status_code::text
    FROM unnest(v_modules) AS w (module_id)
    INNER JOIN omd.ledger_module AS m ON w.module_id = m.module_id
    INNER JOIN omd.ledger_run AS s ON m.module_id = s.module_id
    CROSS JOIN LATERAL omd_provenance._undone_upto(s.module_instance_id) AS u
    WHERE s.module_instance_id <= coalesce(p_reader.newest_instance_id, 9223372036854775807)
        AND s.module_instance_id <> p_reader.module_instance_id
        AND (p_all OR omd_provenance._stands(s))
        AND omd_provenance._may_have_rows(s, m)
        AND omd_provenance._could_see(s, p_reader)
        AND u.p_undone_by IS DISTINCT FROM p_reader.module_instance_id
        AND p_reader.module_instance_id <= u.p_upto
        AND CASE
            WHEN s.module_id = ANY(v_whole_modules)
                THEN omd_facts.written_entities(s.module_instance_id) IS NULL
            ELSE p_table_code = ANY(omd_provenance._written_tables(s.module_instance_id))
        END;
END
$runs_writing$;

COMMENT ON FUNCTION omd_provenance._runs_writing IS
'Returns the runs that may have written rows of p_table_code which the run p_reader could see. '
'p_all: also those that do not stand. Locks: none.';
