-- Each room erases in its own tables. What refers to a person is erased like him, in a layer of its
-- own.

CREATE OR REPLACE FUNCTION omd_provenance._erase_rooms(
    p_subject jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_rooms$
DECLARE
    v_subject CONSTANT jsonb := p_subject || (
        SELECT jsonb_build_object('holders', coalesce(jsonb_agg(to_jsonb(h)), '[]'))
        FROM omd_provenance._holders(p_subject) AS h
    );
    v_items jsonb := '[]'::jsonb;
    v_routine text;
    v_erased omd.hook_erased;
BEGIN
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('ERASE') AS h LOOP
        FOR v_erased IN
            EXECUTE format('SELECT e.* FROM %s($1) AS e', v_routine) USING v_subject
        LOOP
            v_items := v_items || jsonb_build_object(
                'layer', CASE
                    WHEN v_erased.layer IN (
                        'LVL', 'DELTA', 'STAGING', 'SAMPLE', 'CONTEXT', 'ANCHOR'
                    )
                        THEN coalesce(p_subject ->> 'layer', v_erased.layer)
                    ELSE v_erased.layer
                END,
                'table_code', v_erased.table_code,
                'outcome', v_erased.outcome,
                'key_count', v_erased.key_count,
                'row_count', v_erased.row_count,
                'text', v_erased.remark,
                'tables', v_erased.tables
            );
        END LOOP;
    END LOOP;
    RETURN v_items;
END
$erase_rooms$;

COMMENT ON FUNCTION omd_provenance._erase_rooms IS
'Erases p_subject from the tables of the rooms, and returns the items. Locks: the rows.';
GRANT EXECUTE ON FUNCTION omd_provenance._erase_rooms TO omd_admin;
