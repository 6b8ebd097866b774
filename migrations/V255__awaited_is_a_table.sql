-- V255: what is awaited after a recall is a table, which is inlined. Applied once.

-- It stays for the calls that are on their way: dropped, it would be missed.
DO $do$
BEGIN
    IF to_regprocedure('omd.is_awaited()') IS NOT NULL THEN
        COMMENT ON FUNCTION omd.is_awaited() IS 'Retired.';
    END IF;
END
$do$;
