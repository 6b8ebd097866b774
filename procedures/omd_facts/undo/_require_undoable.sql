-- A begin asks before it keeps readers away: what can't be undone would keep them away for nothing.

CREATE OR REPLACE FUNCTION omd_facts._require_undoable(
    p_interface_id integer,
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_undoable$
DECLARE
    v_load omd_facts.load_log;
BEGIN
    FOR v_load IN
        SELECT l.* FROM omd_facts.load_log AS l
        WHERE l.interface_id = p_interface_id
            AND l.module_instance_id >= (
                SELECT min(f.module_instance_id) FROM omd_facts.load_log AS f
                WHERE f.interface_id = p_interface_id
                    AND f.module_instance_id = ANY(p_instance_array)
                    AND f.undone_by IS NULL
            )
            AND l.undone_by IS NULL
        ORDER BY l.module_instance_id DESC
    LOOP
        IF v_load.module_instance_id <> ALL(p_instance_array) THEN
            PERFORM omd_facts._raise_not_undone(
                v_load, format('load %s is later and stands', v_load.module_instance_id)
            );
        END IF;
        IF EXISTS (
            SELECT FROM omd_facts.transaction_log AS t
            WHERE t.interface_id = p_interface_id
                AND t.transaction_datetime >= v_load.loaded_datetime
        ) THEN
            PERFORM omd_facts._raise_not_undone(v_load, 'rows were written through views later');
        END IF;
    END LOOP;
END
$require_undoable$;

COMMENT ON FUNCTION omd_facts._require_undoable IS
'Refuses to undo the loads of the interface p_interface_id by the instances p_instance_array where '
'a later one stands, or rows were written through views since. Errors: OM153. Locks: none.';
