-- It is the way of omd_provenance._readers_in_ledger from the other end.

CREATE OR REPLACE FUNCTION omd_provenance._sources_in_ledger(
    p_instance_array bigint[],
    p_all boolean,
    p_positions jsonb
)
RETURNS TABLE (
    reader_instance_id bigint,
    module_instance_id bigint,
    table_code text,
    is_exact boolean,
    stands boolean,
    execution_status_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $sources_in_ledger$
DECLARE
    v_id bigint;
BEGIN
    FOR v_id IN
        SELECT DISTINCT i.id FROM unnest(p_instance_array) AS i (id)
        WHERE i.id IS NOT NULL
        ORDER BY i.id
    LOOP
        RETURN QUERY
        SELECT v_id, s.module_instance_id, s.table_code, bool_or(s.is_exact), s.stands,
            s.execution_status_code
        FROM omd_provenance._sources_of_run(v_id, coalesce(p_all, FALSE), p_positions) AS s
        GROUP BY s.module_instance_id, s.table_code, s.stands, s.execution_status_code;
    END LOOP;
END
$sources_in_ledger$;

COMMENT ON FUNCTION omd_provenance._sources_in_ledger IS
'Returns what omd_provenance.direct_sources does. p_positions: where the rows of '
'omd_provenance._writers_before are, as omd_provenance._positions_of_runs answers it; of others '
'nobody knows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._sources_in_ledger TO omd_reader, omd_data_reader;
