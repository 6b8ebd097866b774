-- The time of a commit is one for all tables of its transaction, so tables read as of one instant
-- fit together.

CREATE OR REPLACE FUNCTION omd_lake.commit_as_of(
    p_table_code text,
    p_as_of timestamptz
)
RETURNS TABLE (
    commit_id bigint,
    table_code text,
    table_format_code text,
    sequence_number bigint,
    snapshot_id bigint,
    commit_datetime timestamptz,
    module_instance_id bigint,
    operation text,
    added_files bigint,
    added_rows bigint,
    removed_files bigint,
    removed_rows bigint,
    total_files bigint,
    total_rows bigint,
    metadata_location text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $commit_as_of$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
BEGIN
    p_as_of := omd.require_argument('p_as_of', p_as_of);
    RETURN QUERY
    SELECT c.* FROM omd_lake.table_commit AS c
    WHERE c.table_code = v_table_code AND c.commit_datetime <= p_as_of
    ORDER BY c.commit_datetime DESC, c.sequence_number DESC
    LIMIT 1;
    IF NOT FOUND THEN
        PERFORM omd_lake._require_known(v_table_code);
        PERFORM omd.raise_error(
            'OM021', jsonb_build_object('table_code', v_table_code, 'as_of', p_as_of)
        );
    END IF;
END
$commit_as_of$;

COMMENT ON FUNCTION omd_lake.commit_as_of IS
'One row: the commit of the table p_table_code that was the newest one at p_as_of. Errors: OM005, '
'OM009, OM013, OM020: there is no such table, OM021: it had no commit then. Locks: none. May be '
'NULL: snapshot_id, module_instance_id, total_files, total_rows, metadata_location.';
GRANT EXECUTE ON FUNCTION omd_lake.commit_as_of TO omd_reader;
