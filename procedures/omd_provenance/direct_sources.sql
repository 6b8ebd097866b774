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
        FROM omd_provenance._sources_of_run(v_id, coalesce(p_all, FALSE)) AS s
        GROUP BY s.module_instance_id, s.table_code, s.stands, s.execution_status_code;
    END LOOP;
END
$direct_sources$;

COMMENT ON FUNCTION omd_provenance.direct_sources IS
'For rooms: returns the runs whose rows the runs p_instance_array have read, or may have read: '
'reader_instance_id has read module_instance_id through table_code. is_exact: the ledger knows it; '
'else it may have. stands: the source succeeded, is not undone and not replaced. p_all: also those '
'that do not stand. Locks: none.';
REVOKE ALL ON FUNCTION omd_provenance.direct_sources FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance.direct_sources TO omd_reader;
