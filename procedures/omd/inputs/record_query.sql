-- It runs with the rights of the caller: omd_owner may not name tables of every schema.

CREATE OR REPLACE PROCEDURE omd.record_query(
    p_query text,
    p_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $record_query$
DECLARE
    v_id bigint;
    v_look record;
BEGIN
    p_query := omd.require_argument('p_query', p_query);
    v_id := omd._reading_run(p_module_instance_id);
    v_look := omd._statement_inputs(p_query);
    PERFORM omd._record_look(v_id, v_look.p_tables, v_look.p_problem);
END
$record_query$;

COMMENT ON PROCEDURE omd.record_query IS
'For programs: '
'Records that a run reads the tables of a statement, before it does, as the catalogue knows them; '
'where it does not know them all, nobody knows what the run reads until that is declared. p_query: '
'one plain statement. p_module_instance_id: the run, which must execute; NULL: the run of this '
'session. Errors: OM004: there is no such run; OM005: p_query is NULL, or no run executes in this '
'session; OM101, OM102: the run does not execute. Locks: the instance, against deletion. '
'See docs/explanation/provenance.md. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.record_query TO omd_runner;
