-- A runner may insert what a run keeps, since a Spark job writes it; so each statement is looked
-- at, once. The fence keeps the run from ending before these rows are committed: neither may a run
-- that has succeeded get further rows, nor may rows come back that a rollback has taken. The end of
-- the statement is early enough, and heartbeats wait no longer than for the commit.

CREATE OR REPLACE FUNCTION omd_decision._guard_rows()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $guard_rows$
DECLARE
    v_stranger bigint;
    v_module_instance_id bigint;
BEGIN
    SELECT r.module_instance_id INTO v_stranger
    FROM (SELECT DISTINCT n.module_instance_id FROM new_rows AS n) AS r
    WHERE NOT EXISTS (
        SELECT FROM omd_decision.run AS u WHERE u.module_instance_id = r.module_instance_id
    )
        OR NOT EXISTS (
            SELECT FROM omd.instance_state(r.module_instance_id) AS i
            WHERE i.execution_status_code = 'E'
        )
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM181', jsonb_build_object('module_instance_id', v_stranger)
        );
    END IF;
    FOR v_module_instance_id IN SELECT DISTINCT n.module_instance_id FROM new_rows AS n LOOP
        CALL omd.fence(v_module_instance_id);
    END LOOP;
    RETURN NULL;
END
$guard_rows$;

COMMENT ON FUNCTION omd_decision._guard_rows IS
'Refuses rows of a Module Instance that is no executing run of a stage. Errors: OM101, OM102: it '
'has ended meanwhile, or does not proceed; OM107: its lease has expired; OM181. Locks: the '
'instance row FOR SHARE, until the transaction ends.';
