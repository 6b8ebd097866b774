-- A deployment that has nothing to execute takes no lock that readers wait for. The mapping is
-- written to be compared, and taken back.

CREATE OR REPLACE FUNCTION omd_facts._is_deployed(
    p_interface_code text
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_deployed$
DECLARE
    v_interface_id integer;
    v_old jsonb;
    v_is_deployed boolean;
    v_token CONSTANT text := 'the mapping is taken back';
BEGIN
    BEGIN
        v_interface_id := omd_delivery.hold_interface(p_interface_code);
        PERFORM FROM omd_facts.interface AS i
        WHERE i.interface_id = v_interface_id
        FOR UPDATE;
        v_old := omd_facts._stored_mapping(v_interface_id);
        SET CONSTRAINTS ALL DEFERRED;
        PERFORM omd_facts._write_mapping(omd_delivery.registry_document(p_interface_code));
        v_is_deployed := NOT (
            omd_facts._views_shrink(v_interface_id)
            OR EXISTS (SELECT FROM omd_facts._schema_statements(v_interface_id))
            OR EXISTS (SELECT FROM omd_facts._follow_mapping(v_interface_id, v_old))
            OR EXISTS (SELECT FROM omd_facts._shared_statements(v_interface_id))
            OR EXISTS (SELECT FROM omd_facts._table_statements(v_interface_id))
            OR EXISTS (SELECT FROM omd_facts._missing_indexes(v_interface_id))
            OR EXISTS (SELECT FROM omd_facts._view_statements(v_interface_id))
            OR EXISTS (SELECT FROM omd_facts._changes_statements(v_interface_id))
        );
        RAISE EXCEPTION USING ERRCODE = 'raise_exception', MESSAGE = v_token;
    EXCEPTION
        WHEN raise_exception THEN
            IF SQLERRM <> v_token THEN
                RAISE;
            END IF;
    END;
    RETURN v_is_deployed;
END
$is_deployed$;

COMMENT ON FUNCTION omd_facts._is_deployed IS
'Returns whether nothing is left to deploy for the interface p_interface_code but rows of shared '
'anchors. Errors: OM005, OM013, OM031, OM233, OM250, OM252. Locks: the interface, in both rooms, '
'until it returns.';
