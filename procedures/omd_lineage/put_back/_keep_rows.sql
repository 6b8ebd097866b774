-- The step runs with the rights of its role, which may not write into tables of OMD. It comes with
-- a thousand rows per call, so that the call itself costs little. A row is kept as text, as a dump
-- keeps it: jsonb would change values of some types (arrays that do not begin at 1, json, types of
-- extensions), and a table per destination would have to follow every change of it.

CREATE OR REPLACE FUNCTION omd_lineage._keep_rows(
    p_module_instance_id bigint,
    p_written_by bigint[],
    p_content text[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $keep_rows$
DECLARE
    v_rows bigint;
BEGIN
    INSERT INTO omd_lineage.replaced_row (module_instance_id, written_by, content)
    SELECT p_module_instance_id, r.written_by, r.content
    FROM unnest(p_written_by, p_content) AS r (written_by, content);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END
$keep_rows$;

COMMENT ON FUNCTION omd_lineage._keep_rows IS
'Keeps rows that the step p_module_instance_id replaces: the Module Instances p_written_by that '
'wrote them, and their values p_content, each the literal of a row. Returns the number of rows. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._keep_rows TO omd_runner, omd_admin;
