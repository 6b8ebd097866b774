-- The row is read with the rights of the caller, and its way is looked up with those of the owner.

CREATE OR REPLACE FUNCTION omd_provenance.trace_row(
    p_table_code text,
    p_key jsonb,
    p_direction text DEFAULT 'BOTH',
    p_depth integer DEFAULT 20
)
RETURNS TABLE (
    direction text,
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean,
    delivery_id bigint,
    delivery_status text,
    files text[],
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $trace_row$
DECLARE
    v_run bigint;
BEGIN
    p_table_code := omd.require_argument('p_table_code', p_table_code);
    p_key := omd.require_argument('p_key', p_key);
    SELECT v.module_instance_id INTO v_run
    FROM omd_provenance._versions(p_table_code, p_key, NULL, NULL) AS v
    WHERE v.is_it;
    IF v_run IS NULL THEN
        PERFORM omd.raise_error(
            'OM093',
            jsonb_build_object(
                'table_code', p_table_code,
                'problem', 'the row names no run',
                'way_out', 'SELECT * FROM omd_report.audit_columns;'
            )
        );
    END IF;
    RETURN QUERY SELECT t.* FROM omd_provenance._trace(v_run, p_direction, p_depth) AS t;
END
$trace_row$;

COMMENT ON FUNCTION omd_provenance.trace_row IS
'Returns what omd_provenance.trace does of the run that wrote a row. p_table_code: an offered view '
'of facts, a table of the Logical Validation Layer, or a target of a Module. p_key: an object of '
'columns and values that finds exactly one row. p_direction: UP, DOWN or BOTH. p_depth: how many '
'steps far. The row is read with the rights of the caller. Errors: OM004: the run is not kept; '
'OM005: an argument is NULL; OM006: p_direction or p_depth is unknown; OM093: the key does not '
'find exactly one row, or it names no run. Locks: ACCESS SHARE on the table. May be NULL: '
'because_of, delivery_id, delivery_status, files.';
GRANT EXECUTE ON FUNCTION omd_provenance.trace_row TO omd_data_reader;
