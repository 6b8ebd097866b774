-- In the order of every room: the interface, then its position. Rows that somebody reads at this
-- moment must not go.

CREATE OR REPLACE FUNCTION omd_facts.hold_erasure(
    p_interface_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_erasure$
DECLARE
    v_interface_id integer;
    v_root text;
BEGIN
    SELECT i.interface_id INTO v_interface_id
    FROM omd_facts.interface AS i
    WHERE i.interface_code = p_interface_code
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A load of another interface may be about to use a row of a key root that is to go.
    FOR v_root IN
        SELECT DISTINCT format('cfl.%I', 'kr_' || e.key_root_code)
        FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface_id AND e.key_root_code IS NOT NULL
        ORDER BY 1
    LOOP
        EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', v_root);
    END LOOP;
    PERFORM omd_facts._take_position(v_interface_id);
END
$hold_erasure$;

COMMENT ON FUNCTION omd_facts.hold_erasure IS
'For rooms: Keeps writers and readers away from the facts of the interface p_interface_code, which '
'the caller holds in delivery. Errors: OM159: readers are at work. Locks: the interface, its key '
'roots, its position, against readers.';
