-- PERSISTED WITH VIOLATED CONSTRAINTS is persisted too; the status in the detail says it.

CREATE OR REPLACE FUNCTION omd_event._hear_delivery()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_delivery$
BEGIN
    INSERT INTO omd_event.outbox (event_type, subject_type, subject_id, code, detail)
    VALUES (
        'DELIVERY_' || split_part(new.delivery_status, ' ', 1),
        'DELIVERY',
        new.delivery_id,
        omd_delivery.agreement_code(new.agreement_id),
        jsonb_build_object('status', new.delivery_status, 'attempt', new.attempt)
    );
    RETURN NULL;
END
$hear_delivery$;

COMMENT ON FUNCTION omd_event._hear_delivery IS
'Trigger: writes the new status of a delivery to the outbox. Locks: none.';
