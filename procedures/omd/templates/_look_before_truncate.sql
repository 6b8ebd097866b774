-- The lock is the one that TRUNCATE takes, so nobody can add a row between the look and it. The
-- look is a statement of its own, after the lock, so that it sees what was committed meanwhile.

CREATE OR REPLACE FUNCTION omd._look_before_truncate(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $look_before_truncate$
DECLARE
    v_instead record;
BEGIN
    SELECT i.* INTO v_instead
    FROM omd._instead_of_truncate(p_module_id, p_instance_array) AS i;
    IF v_instead.table_name IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_instead.table_name);
    IF omd._has_strangers(p_module_id) THEN
        RETURN v_instead.statement;
    END IF;
    RETURN NULL;
END
$look_before_truncate$;

COMMENT ON FUNCTION omd._look_before_truncate IS
'Returns the statement that undoes the instances p_instance_array of the Module p_module_id where '
'its standard rollback, TRUNCATE, would take a row that no instance of it wrote; else NULL. Locks: '
'the table that may be truncated, ACCESS EXCLUSIVE.';
GRANT EXECUTE ON FUNCTION omd._look_before_truncate TO omd_runner;
