-- Who waits for readers holds nothing else meanwhile, so the position is taken before the
-- interface, while a recall, and a load that deletes physically, have the interface and then take
-- the position. So the position is given back when the interface is not had soon, before the server
-- looks for circles (deadlock_timeout), and taken again when the other one had time to take it.

CREATE OR REPLACE FUNCTION omd_facts._take_interface(
    p_interface_id integer,
    p_wait interval,
    OUT p_is_taken boolean,
    OUT p_readers text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_interface$
DECLARE
    v_former CONSTANT text := current_setting('lock_timeout');
    v_begin CONSTANT timestamptz := clock_timestamp();
    v_taken record;
BEGIN
    LOOP
        BEGIN
            v_taken := omd.take_source(omd_facts._source_code(p_interface_id), p_wait);
            p_is_taken := v_taken.p_is_taken;
            p_readers := v_taken.p_readers;
            IF NOT p_is_taken THEN
                RETURN;
            END IF;
            PERFORM set_config('lock_timeout', '200ms', TRUE);
            PERFORM omd_delivery.hold_interface(i.interface_code)
            FROM omd_facts.interface AS i WHERE i.interface_id = p_interface_id;
            PERFORM FROM omd_facts.interface AS i
            WHERE i.interface_id = p_interface_id
            FOR NO KEY UPDATE;
            PERFORM set_config('lock_timeout', v_former, TRUE);
            RETURN;
        EXCEPTION
            WHEN lock_not_available THEN
                IF v_former::interval > '0'
                    AND clock_timestamp() > v_begin + v_former::interval
                THEN
                    RAISE;
                END IF;
        END;
        PERFORM pg_sleep(0.1);
    END LOOP;
END
$take_interface$;

COMMENT ON FUNCTION omd_facts._take_interface IS
'Takes the position of the interface p_interface_id from all readers, and the interface in both '
'rooms, until the transaction ends. It waits for readers for p_wait at most; p_is_taken is false '
'then, and p_readers names them. Locks: the position, against readers; the interface in both '
'rooms.';
