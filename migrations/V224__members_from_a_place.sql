-- V224: _members_of_instance takes a member, from which it reads. A call that executes the former
-- one goes on under another name, until sql/cleanup/drop_retired.sql drops it. Applied once.

DO $do$
BEGIN
    IF EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regproc('omd._members_of_instance')
            AND NOT 'p_member_code' = ANY(p.proargnames)
    ) THEN
        COMMENT ON FUNCTION omd._members_of_instance IS 'Retired.';
        ALTER FUNCTION omd._members_of_instance RENAME TO _former_members_of_instance;
    END IF;
END
$do$;
