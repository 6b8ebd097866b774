-- A run says what it reads before it reads, but not every one does; and what executes while rows go
-- may read them in the next moment.

CREATE OR REPLACE FUNCTION omd_provenance._may_have_read(
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $may_have_read$
BEGIN
    RETURN omd.runs_outside(
        ARRAY(
            SELECT w.module_instance_id
            FROM omd.runs_at_work(omd_provenance._modules_concerned(p_instance_array)) AS w
            WHERE NOT w.is_dead AND NOT w.module_instance_id = ANY(p_instance_array)
        )
    );
END
$may_have_read$;

COMMENT ON FUNCTION omd_provenance._may_have_read IS
'Returns the runs that execute outside of the database, are none of p_instance_array, and may have '
'read what these wrote, in the order of their ids. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._may_have_read TO omd_admin;
