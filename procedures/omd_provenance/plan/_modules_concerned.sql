-- The Module of a run knows what it has written: one run of each says it for all.

CREATE OR REPLACE FUNCTION omd_provenance._modules_concerned(
    p_instance_array bigint[]
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $modules_concerned$
BEGIN
    RETURN ARRAY(
        WITH own AS MATERIALIZED (
            SELECT
                r.module_id,
                min(r.table_code) AS table_code,
                max(r.module_instance_id) AS module_instance_id
            FROM omd.runs_of_modules(p_instance_array) AS r
            GROUP BY r.module_id
        )

        SELECT o.module_id FROM own AS o
        UNION
        SELECT m.module_id
        FROM omd_provenance.modules_reading(
            ARRAY(
                SELECT o.table_code FROM own AS o
                UNION
                SELECT unnest(omd.written_tables(o.module_instance_id)) FROM own AS o
            )
        ) AS m
        ORDER BY 1
    );
END
$modules_concerned$;

COMMENT ON FUNCTION omd_provenance._modules_concerned IS
'Returns the Modules of the runs p_instance_array, and all that may read a table that these have '
'written, in the order of their ids. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._modules_concerned TO omd_admin;
