-- A dry run does it all and takes it back, so it says what a deployment would say.

CREATE OR REPLACE PROCEDURE omd_facts.deploy(
    p_interface_code text,
    p_dry_run boolean DEFAULT FALSE,
    INOUT p_model_version integer DEFAULT NULL,
    INOUT p_statements integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $deploy$
BEGIN
    p_dry_run := omd.require_argument('p_dry_run', p_dry_run);
    PERFORM omd.require_read_committed();
    IF p_dry_run THEN
        SELECT count(*)::integer INTO p_statements FROM omd_facts.build_deploy_sql(p_interface_code);
    ELSE
        p_statements := cardinality(omd_facts._deploy(p_interface_code));
    END IF;
    p_model_version := (
        omd_delivery.registry_document(p_interface_code) ->> 'model_version'
    )::integer;
END
$deploy$;

COMMENT ON PROCEDURE omd_facts.deploy IS
'Brings the tables, views and functions of the facts of the interface p_interface_code to its '
'model, in one transaction. p_dry_run: nothing is changed. Returns p_model_version, the version '
'that is deployed, and p_statements, how many statements were, or would be, executed: 0 when '
'nothing changes. Errors: OM005, OM013, OM014, OM031: it has no model, OM233: a schema belongs '
'to somebody else, OM250: the facts of the model say what can''t be, OM252: stored facts would '
'be read otherwise, OM160: readers or writers keep its views. Locks: the views and their tables, '
'against all, where anything changes; the interface, in both rooms. Call again when the answer was '
'lost.';
GRANT EXECUTE ON PROCEDURE omd_facts.deploy TO omd_admin;
