-- One statement trigger serves all tables of the configuration.

CREATE OR REPLACE FUNCTION omd_dispatch._raise_cache_version()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_cache_version$
BEGIN
    INSERT INTO omd_dispatch.cache_version AS v (part, version) VALUES (tg_table_name, 1)
    ON CONFLICT (part) DO UPDATE SET version = v.version + 1;
    RETURN NULL;
END
$raise_cache_version$;

COMMENT ON FUNCTION omd_dispatch._raise_cache_version IS
'Trigger: raises the version of a table of the configuration. Locks: its row of '
'omd_dispatch.cache_version.';
