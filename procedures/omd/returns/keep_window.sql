-- A recall takes the run back, and its window stays here until it is taken again. What that run had
-- superseded itself is superseded by the next one as well.

CREATE OR REPLACE FUNCTION omd.keep_window(
    p_module_instance_id bigint,
    p_recall_id bigint,
    p_former_instances bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $keep_window$
BEGIN
    INSERT INTO omd.window_return (
        module_id, recall_id, start_value, start_id, end_value, end_id, source_code,
        former_instances
    )
    SELECT
        mi.module_id, p_recall_id, sc.start_value, sc.start_id, sc.end_value, sc.end_id,
        sc.source_code,
        ARRAY(SELECT DISTINCT f.id FROM unnest(p_former_instances) AS f (id) ORDER BY f.id)
    FROM omd.module_instance AS mi
    LEFT JOIN omd.source_control AS sc ON mi.module_instance_id = sc.module_instance_id
    WHERE mi.module_instance_id = p_module_instance_id;
END
$keep_window$;

COMMENT ON FUNCTION omd.keep_window IS
'For rooms: Writes down that the load window of the Module Instance p_module_instance_id, which '
'the recall p_recall_id takes back, is to be taken again, and of which runs it was '
'(p_former_instances). Locks: none.';
