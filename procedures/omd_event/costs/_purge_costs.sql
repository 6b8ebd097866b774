-- There is a row for each run of some length, so all are looked at. Only what is deleted is locked.

CREATE OR REPLACE FUNCTION omd_event._purge_costs()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_costs$
BEGIN
    DELETE FROM omd_event.run_cost AS c
    WHERE NOT CASE c.subject_type
        WHEN 'MODULE' THEN EXISTS (
            SELECT FROM omd.followed_module_instance AS mi
            WHERE mi.module_instance_id = c.instance_id
        )
        ELSE EXISTS (
            SELECT FROM omd.followed_batch_instance AS bi
            WHERE bi.batch_instance_id = c.instance_id
        )
    END;
END
$purge_costs$;

COMMENT ON FUNCTION omd_event._purge_costs IS
'Deletes the costs of runs whose instances were purged. Locks: the rows that it deletes.';
