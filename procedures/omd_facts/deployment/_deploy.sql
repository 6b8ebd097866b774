-- All in one transaction: readers see the former tables and views, or the new ones.

CREATE OR REPLACE FUNCTION omd_facts._deploy(
    p_interface_code text
)
RETURNS text[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $deploy$
DECLARE
    v_registry jsonb;
    v_interface_id integer;
    v_old jsonb;
    v_statements text[] := '{}'::text[];
    v_phase text[];
    v_grants text[] := '{}'::text[];
BEGIN
    IF NOT omd_facts._is_deployed(p_interface_code) THEN
        CALL omd_facts.hold_views(p_interface_code);
    END IF;
    v_interface_id := omd_delivery.hold_interface(p_interface_code);
    PERFORM FROM omd_facts.interface AS i WHERE i.interface_id = v_interface_id FOR UPDATE;
    v_registry := omd_delivery.registry_document(p_interface_code);
    v_old := omd_facts._stored_mapping(v_interface_id);
    SET CONSTRAINTS ALL DEFERRED;
    PERFORM omd_facts._write_mapping(v_registry);
    IF EXISTS (
        SELECT FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface_id
            AND num_nonnulls(e.generalization_code, e.key_root_code) > 0
    ) THEN
        -- What interfaces share is changed by one of them at a time. The mode keeps out itself and
        -- no writer, and a role that may only read can't take it.
        LOCK TABLE omd_facts.link IN SHARE UPDATE EXCLUSIVE MODE;
    END IF;
    v_statements := omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._schema_statements(v_interface_id) AS s)
    );
    v_phase := ARRAY(SELECT s FROM omd_facts._follow_mapping(v_interface_id, v_old) AS s);
    IF omd_facts._views_shrink(v_interface_id) OR EXISTS (
        SELECT
        FROM (
            SELECT unnest(v_phase) AS text
            UNION ALL
            SELECT t FROM omd_facts._table_statements(v_interface_id) AS t
        ) AS s
        WHERE s.text LIKE 'DROP TABLE %' OR s.text LIKE 'ALTER TABLE % ALTER COLUMN %'
    ) THEN
        v_grants := ARRAY(SELECT s FROM omd_facts._kept_grants(v_interface_id) AS s);
        v_phase := ARRAY(SELECT s FROM omd_facts._drop_views(v_interface_id) AS s) || v_phase;
    END IF;
    v_statements := v_statements || omd_facts._execute_all(p_interface_code, v_phase);
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._shared_statements(v_interface_id) AS s)
    );
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._table_statements(v_interface_id) AS s)
    );
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT m.statement FROM omd_facts._missing_indexes(v_interface_id) AS m)
    );
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._view_statements(v_interface_id) AS s)
    );
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._changes_statements(v_interface_id) AS s)
    );
    PERFORM omd_facts._switch_changes(v_interface_id);
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._fill_shared(v_interface_id) AS s)
    );
    v_statements := v_statements || omd_facts._execute_all(
        p_interface_code, ARRAY(SELECT s FROM omd_facts._shared_views(v_interface_id) AS s)
    );
    v_statements := v_statements || omd_facts._execute_all(p_interface_code, v_grants);
    PERFORM omd_facts._register_module(v_interface_id);
    PERFORM omd_facts.equip_agreement(v_interface_id, a.agreement_code, a.layer_code)
    FROM omd_delivery.agreements_of(v_interface_id) AS a;
    PERFORM omd_facts._warn_unknown_keys(v_registry);
    RETURN v_statements;
END
$deploy$;

COMMENT ON FUNCTION omd_facts._deploy IS
'Deploys the interface p_interface_code and returns what it executed. Errors: OM005, OM013, '
'OM031, OM160, OM233, OM250, OM252. Locks: the views and their tables, where anything changes; '
'the interface, in both rooms; the other deployments of what interfaces share.';
