-- Runs of the Module whose run undid it wait for the commit of the undo, so the next of them began
-- after it, whether somebody has looked or not.

CREATE OR REPLACE FUNCTION omd_provenance._undone_upto(
    p_module_instance_id bigint,
    OUT p_undone_by bigint,
    OUT p_upto bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $undone_upto$
BEGIN
    SELECT u.undone_by, u.undone_upto INTO p_undone_by, p_upto
    FROM omd.ledger_undone AS u
    WHERE u.module_instance_id = p_module_instance_id;
    IF p_upto IS NULL AND p_undone_by <> p_module_instance_id THEN
        SELECT later.module_instance_id - 1 INTO p_upto
        FROM omd.ledger_run AS undoing
        INNER JOIN omd.ledger_run AS later
            ON undoing.module_id = later.module_id
                AND undoing.module_instance_id < later.module_instance_id
        WHERE undoing.module_instance_id = p_undone_by
        ORDER BY later.module_instance_id
        LIMIT 1;
    END IF;
    p_upto := coalesce(p_upto, 9223372036854775807);
END
$undone_upto$;

COMMENT ON FUNCTION omd_provenance._undone_upto IS
'Returns the run that undid p_module_instance_id (p_undone_by; NULL: none did), and the newest run '
'that may have read it before (p_upto). Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._undone_upto TO omd_reader;
