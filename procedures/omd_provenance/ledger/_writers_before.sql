-- Who reads by the positions of rows has read the runs whose rows are there, so it must be known of
-- these where they are.

CREATE OR REPLACE FUNCTION omd_provenance._writers_before(
    p_instance_array bigint[],
    p_all boolean
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $writers_before$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT s.id
        FROM omd.ledger_run AS r
        INNER JOIN omd.ledger_input AS i ON r.module_id = i.module_id
        CROSS JOIN LATERAL omd_provenance._runs_writing(
            i.table_code, r, coalesce(p_all, FALSE)
        ) AS s
        WHERE r.module_instance_id = ANY(p_instance_array)
            AND r.execution_status_code IN ('S', 'E', 'F')
            AND r.processing_indicator IN ('P', 'R')
            AND i.read_kind = 'WINDOW'
            AND i.pos_column IS NOT NULL
            AND i.declared_code = i.table_code
            AND i.after_id < r.module_instance_id
            AND coalesce(i.upto_id >= r.module_instance_id, TRUE)
    );
END
$writers_before$;

COMMENT ON FUNCTION omd_provenance._writers_before IS
'Returns the runs that may have written rows which one of the runs p_instance_array has read by '
'their positions. p_all: also those that do not stand. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._writers_before TO omd_reader, omd_data_reader;
