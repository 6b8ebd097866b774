-- The lock of the interface comes first, also for its agreements.

CREATE OR REPLACE FUNCTION omd_delivery._hold_agreement(
    p_agreement_code text
)
RETURNS omd_delivery.agreement
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_agreement$
DECLARE
    v_agreement omd_delivery.agreement;
BEGIN
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    PERFORM omd.require_read_committed();
    PERFORM FROM omd_delivery.interface AS i
    WHERE i.interface_id = (
        SELECT a.interface_id FROM omd_delivery.agreement AS a
        WHERE a.agreement_code = p_agreement_code
    )
    FOR NO KEY UPDATE;
    -- This is a statement of its own, so that it sees what the former holder of the lock has
    -- committed.
    SELECT a.* INTO v_agreement
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM033', jsonb_build_object('agreement_code', p_agreement_code));
    END IF;
    RETURN v_agreement;
END
$hold_agreement$;

COMMENT ON FUNCTION omd_delivery._hold_agreement IS
'Returns the agreement p_agreement_code under the lock of its interface. Errors: OM005: '
'p_agreement_code is NULL; OM013: it is blank or too long; OM014: the isolation level is not '
'read committed; OM033: there is none. Locks: the interface, until the transaction ends.';
