-- A transaction that reads before it writes may take the lock first.

CREATE OR REPLACE PROCEDURE omd_facts.hold(
    p_interface_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold$
BEGIN
    PERFORM omd_facts._hold((omd_facts._require_interface(p_interface_code)).interface_id);
END
$hold$;

COMMENT ON PROCEDURE omd_facts.hold IS
'For programs: '
'Does what the first write of a transaction on a current view of the interface p_interface_code '
'does: takes the lock, checks, and fixes the transaction time. Errors: OM005, OM013, OM014, '
'OM031, OM069: another login has opened the delivery that the session names, OM150: the session '
'names no open delivery of it, OM151: an LVL delivery is not at an end, OM251. Locks: the '
'interface in both rooms, until the transaction ends.';
GRANT EXECUTE ON PROCEDURE omd_facts.hold TO omd_runner, omd_data_writer;
