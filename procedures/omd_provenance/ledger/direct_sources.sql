-- It is the way of omd_provenance.direct_readers from the other end.

CREATE OR REPLACE FUNCTION omd_provenance.direct_sources(
    p_instance_array bigint[],
    p_all boolean DEFAULT FALSE
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
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $direct_sources$
BEGIN
    RETURN QUERY
    SELECT s.*
    FROM omd_provenance._sources_in_ledger(
        p_instance_array,
        p_all,
        omd_provenance._positions_of_runs(
            omd_provenance._writers_before(p_instance_array, p_all), NULL
        )
    ) AS s;
END
$direct_sources$;

COMMENT ON FUNCTION omd_provenance.direct_sources IS
'For rooms: returns the runs whose rows the runs p_instance_array have read, or may have read: '
'reader_instance_id has read module_instance_id through table_code. is_exact: the ledger knows it; '
'else it may have. stands: the source succeeded, is not undone and not replaced. p_all: also those '
'that do not stand. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance.direct_sources TO omd_reader, omd_data_reader;
