-- Runs of a Module are one after the other, so all that began after the source, and the one before
-- that, are those that may have read. What reads by windows is found by where these end, one window
-- at a time: a loop over a range would be planned for all of it. It runs with the rights of the
-- caller, since the positions of rows stand in tables of users.

CREATE OR REPLACE FUNCTION omd_provenance.direct_readers(
    p_instance_array bigint[],
    p_all boolean DEFAULT FALSE,
    p_positions jsonb DEFAULT NULL
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
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $direct_readers$
DECLARE
    v_id bigint;
    v_positions CONSTANT jsonb := CASE
        WHEN p_positions IS NULL AND cardinality(p_instance_array) > 1
            THEN omd_provenance._positions_of_runs(p_instance_array, NULL)
        ELSE p_positions
    END;
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
            v_id, coalesce(p_all, FALSE), v_positions -> v_id::text
        ) AS r
        GROUP BY r.module_instance_id, r.table_code, r.stands, r.execution_status_code;
    END LOOP;
END
$direct_readers$;

COMMENT ON FUNCTION omd_provenance.direct_readers IS
'For rooms: returns the runs that have read, or may have read, rows of the runs p_instance_array: '
'source_instance_id has been read by module_instance_id through table_code. is_exact: the ledger '
'knows it; else it may have. stands: the reader succeeded, is not undone and not replaced. p_all: '
'also those that do not stand, such as runs at work. p_positions: where the rows of these runs '
'are, as omd_provenance._positions_of_runs answers it; NULL: that is looked for. Locks: none.';
REVOKE ALL ON FUNCTION omd_provenance.direct_readers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance.direct_readers TO omd_reader;
