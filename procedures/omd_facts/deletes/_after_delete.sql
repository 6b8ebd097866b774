-- The trigger of current views after a DELETE: once for a statement, not for each row.

CREATE OR REPLACE FUNCTION omd_facts._after_delete()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $after_delete$
BEGIN
    IF current_setting('omd_facts.delete_type', TRUE) = 'PHYSICAL' THEN
        PERFORM omd_facts._analyze_removed(e.entity_id)
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        WHERE 'gdal_' || i.interface_code = TG_TABLE_SCHEMA
            AND e.entity_code = TG_TABLE_NAME
            AND e.has_removals
            AND i.writer_transaction = pg_current_xact_id_if_assigned();
    END IF;
    RETURN NULL;
END
$after_delete$;

COMMENT ON FUNCTION omd_facts._after_delete IS
'Trigger: analyzes what a physical DELETE on a current view has touched. Locks: the tables, '
'against DDL.';
