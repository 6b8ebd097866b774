-- The positions of rows stand in tables of users, so they are read with the rights of the caller;
-- the rest is in the ledger.

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
AS $direct_readers$
BEGIN
    RETURN QUERY
    SELECT r.*
    FROM omd_provenance._readers_in_ledger(
        p_instance_array,
        p_all,
        coalesce(p_positions, omd_provenance._positions_of_runs(p_instance_array, NULL))
    ) AS r;
END
$direct_readers$;

COMMENT ON FUNCTION omd_provenance.direct_readers IS
'For rooms: returns the runs that have read, or may have read, rows of the runs p_instance_array: '
'source_instance_id has been read by module_instance_id through table_code. is_exact: the ledger '
'knows it; else it may have. stands: the reader succeeded, is not undone and not replaced. p_all: '
'also those that do not stand, such as runs at work. p_positions: where the rows of these runs '
'are, as omd_provenance._positions_of_runs answers it; NULL: that is looked for. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance.direct_readers TO omd_reader, omd_data_reader;
