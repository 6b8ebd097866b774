-- The walk with the names of its runs.

CREATE OR REPLACE FUNCTION omd_provenance._runs_within(
    p_module_instance_id bigint,
    p_is_up boolean,
    p_all boolean,
    p_depth integer,
    p_most integer
)
RETURNS TABLE (
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $runs_within$
BEGIN
    PERFORM omd_provenance._require_run(p_module_instance_id);
    RETURN QUERY
    SELECT w.distance, w.module_instance_id, m.module_code, m.module_kind_code, w.table_code,
        w.because_of, w.is_exact, w.stands
    FROM omd_provenance._walk(p_module_instance_id, p_is_up, p_all, p_depth, p_most) AS w
    INNER JOIN omd.ledger_run AS mi ON w.module_instance_id = mi.module_instance_id
    INNER JOIN omd.ledger_module AS m ON mi.module_id = m.module_id
    ORDER BY w.distance, w.module_instance_id;
END
$runs_within$;

COMMENT ON FUNCTION omd_provenance._runs_within IS
'Returns what readers_of does, or with p_is_up what sources_of does, at most p_depth steps far '
'(NULL: all the way), and no further once more than p_most runs are there (NULL: however many). '
'Errors: OM004, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._runs_within TO omd_reader;
