-- Compiling takes seconds for a view over all rooms, and its cost, which decides, follows from how
-- much is registered. No catalogue has the cost of a plan, so the plan is made.

CREATE OR REPLACE FUNCTION omd.compiles_work()
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $compiles_work$
DECLARE
    v_bound double precision := current_setting('jit_above_cost')::double precision;
    v_plan json;
BEGIN
    IF NOT pg_jit_available() OR v_bound < 0 THEN
        RETURN FALSE;
    END IF;
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT * FROM omd_report.work' INTO v_plan;
    RETURN (v_plan #>> '{0,Plan,Total Cost}')::double precision > v_bound;
END
$compiles_work$;

COMMENT ON FUNCTION omd.compiles_work IS
'For rooms: '
'Returns whether the server compiles the plan of omd_report.work in this session, by its settings. '
'Locks: those of a plan of that view.';
GRANT EXECUTE ON FUNCTION omd.compiles_work TO omd_reader;
