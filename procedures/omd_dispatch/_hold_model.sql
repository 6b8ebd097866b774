-- A change of the master, or of lanes, waits for all who write tasks, and they for it. What they
-- read after this call holds until they commit.

CREATE OR REPLACE FUNCTION omd_dispatch._hold_model(
    p_family_code text
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT pg_advisory_xact_lock_shared(
        hashtextextended('omd_dispatch model ' || p_family_code, 7302500)
    );
END;

COMMENT ON FUNCTION omd_dispatch._hold_model IS
'Keeps the migration status of p_family_code and the lanes of its types until the end of the '
'transaction. Locks: the model of the family, shared.';
REVOKE ALL ON FUNCTION omd_dispatch._hold_model FROM PUBLIC;
