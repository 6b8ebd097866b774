-- One transaction takes all of a run back, or none of it: a run that has also written to a Delta
-- table, or to a table of another catalogue, is left to its Module.

CREATE OR REPLACE FUNCTION omd_lake.runs_to_recall(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $runs_to_recall$
BEGIN
    p_instance_array := omd.require_argument('p_instance_array', p_instance_array);
    RETURN QUERY
    SELECT r.id
    FROM unnest(omd.runs_of_lake(p_instance_array)) AS r (id)
    WHERE NOT EXISTS (
        SELECT FROM omd_lake.table_commit AS c
        WHERE c.module_instance_id = r.id
            AND (c.table_format_code <> 'ICEBERG' OR cardinality(parse_ident(c.table_code)) <> 2)
    )
    AND NOT EXISTS (
        SELECT FROM omd_lake.write_folder AS w
        WHERE w.module_instance_id = r.id
            AND w.commit_id IS NULL
            AND w.removed_datetime IS NULL
            AND NOT omd_lake._is_catalogued(w.table_code)
    )
    ORDER BY r.id;
END
$runs_to_recall$;

COMMENT ON FUNCTION omd_lake.runs_to_recall IS
'For the driver: '
'Returns those of the runs p_instance_array that stand, and that the transaction of a recall can '
'take back from the lake: all that they wrote are Iceberg tables of this catalogue, and no other '
'rollback is registered for their Modules. Errors: OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake.runs_to_recall TO omd_admin;
