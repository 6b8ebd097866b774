-- It knows of rows what the caller says of them, and reads no table of a user, so it has the rights
-- of the owner. Runs of a Module are one after the other, so all that began after the source, and
-- the one before that, are those that may have read. What reads by windows is found by where these
-- end, one window at a time: a loop over a range would be planned for all of it.

CREATE OR REPLACE FUNCTION omd_provenance._readers_in_ledger(
    p_instance_array bigint[],
    p_all boolean,
    p_positions jsonb
)
RETURNS TABLE (
    source_instance_id bigint,
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
SET plan_cache_mode = force_generic_plan
AS $readers_in_ledger$
DECLARE
    v_id bigint;
BEGIN
    FOR v_id IN
        SELECT DISTINCT i.id FROM unnest(p_instance_array) AS i (id)
        WHERE i.id IS NOT NULL
        ORDER BY i.id
    LOOP
        RETURN QUERY
        SELECT v_id, r.module_instance_id, r.table_code, bool_or(r.is_exact), r.stands,
            r.execution_status_code
        FROM omd_provenance._readers_of_run(
            v_id, coalesce(p_all, FALSE), p_positions -> v_id::text
        ) AS r
        GROUP BY r.module_instance_id, r.table_code, r.stands, r.execution_status_code;
    END LOOP;
END
$readers_in_ledger$;

COMMENT ON FUNCTION omd_provenance._readers_in_ledger IS
'Returns what omd_provenance.direct_readers does. p_positions: where the rows of these runs are, '
'as omd_provenance._positions_of_runs answers it; of others nobody knows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._readers_in_ledger TO omd_reader, omd_data_reader;
