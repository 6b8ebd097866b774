-- The files of an installation are applied one after the other, so the newest names the version.

CREATE OR REPLACE FUNCTION omd.installed_version()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT f.product_version
    FROM omd.installed_file AS f
    ORDER BY f.applied_at DESC, f.path ASC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.installed_version IS
'For rooms: Returns the version of OMD that this database has; NULL: psql has installed it, and '
'has not said which. Locks: none.';
REVOKE ALL ON FUNCTION omd.installed_version FROM PUBLIC;
