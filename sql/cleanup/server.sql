-- Each installation notes the version, and the server if that is new, in the transaction after its
-- own: a begin may hold the row for long, and what is installed has locked tables.

SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL ROLE omd_owner;

DO $do$
BEGIN
    PERFORM omd._settle_server();
    UPDATE omd.installation AS i SET product_version = omd.product_version()
    WHERE i.product_version IS DISTINCT FROM omd.product_version();
END
$do$;
