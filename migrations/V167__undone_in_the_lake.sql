-- phase: expand
-- V167: lake: a rollback is confirmed when the ledger of commits has it. Applied once. The
-- installation gives the function its body.

CREATE OR REPLACE FUNCTION omd_lake._require_undo()
RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_undo$
BEGIN
    RETURN NULL;
END
$require_undo$;
REVOKE ALL ON FUNCTION omd_lake._require_undo FROM PUBLIC;

CREATE OR REPLACE TRIGGER trg_module_instance_lake
AFTER UPDATE OF rolled_back_by_module_instance_id ON omd.module_instance
FOR EACH ROW
WHEN (
    old.rolled_back_by_module_instance_id IS NULL
    AND new.rolled_back_by_module_instance_id IS NOT NULL
)
EXECUTE FUNCTION omd_lake._require_undo();
