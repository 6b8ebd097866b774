-- Whoever changes what a sender relies on ends its lease.

CREATE OR REPLACE FUNCTION omd_event._end_leases()
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    UPDATE omd_event.sink SET
        lease_expires_at = NULL,
        taken_upto = sink.event_number
    WHERE sink.lease_expires_at IS NOT NULL;
END;

COMMENT ON FUNCTION omd_event._end_leases IS
'Ends the leases of all sinks: who holds one can confirm nothing more. Locks: the rows of the '
'sinks.';
