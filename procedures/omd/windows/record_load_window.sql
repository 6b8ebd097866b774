-- create_load_window finds the start itself; a room that keeps its own positions knows it.

CREATE OR REPLACE FUNCTION omd.record_load_window(
    p_module_instance_id bigint,
    p_module_id integer,
    p_start_value timestamptz,
    p_start_id bigint,
    p_end_value timestamptz,
    p_end_id bigint,
    p_source_code text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $record_load_window$
BEGIN
    INSERT INTO omd.source_control (
        module_instance_id, module_id, start_value, start_id, end_value, end_id,
        source_code
    )
    VALUES (
        p_module_instance_id, p_module_id, p_start_value, p_start_id, p_end_value, p_end_id,
        p_source_code
    );
END
$record_load_window$;

COMMENT ON FUNCTION omd.record_load_window IS
'For rooms: Records that p_module_instance_id, of the Module p_module_id, reads (p_start_value '
'and p_start_id, p_end_value and p_end_id], by positions of the source p_source_code (omd.source); '
'NULL: of another one. Locks: none.';
