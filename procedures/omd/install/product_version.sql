-- Every installation writes it on all rows.

CREATE OR REPLACE FUNCTION omd.product_version()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT f.product_version
    FROM omd.installed_file AS f
    ORDER BY f.path
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.product_version IS
'For rooms: Returns the version of OMD that was installed last; NULL before that was kept. Locks: '
'none.';
