-- The tables of the rooms belong to omd_owner.

CREATE OR REPLACE FUNCTION omd_provenance._forget_rooms_statistics(
    p_table_code text,
    p_texts text[]
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_rooms_statistics$
BEGIN
    RETURN omd_provenance._forget_statistics(p_table_code, p_texts);
END
$forget_rooms_statistics$;

COMMENT ON FUNCTION omd_provenance._forget_rooms_statistics IS
'Does what _forget_statistics does to p_table_code and p_texts, with the rights of omd_owner. '
'Locks: the table, against DDL.';
GRANT EXECUTE ON FUNCTION omd_provenance._forget_rooms_statistics TO omd_admin;
