-- Who writes to a view, or to a table of another server, can't be seen.

CREATE OR REPLACE FUNCTION omd_lineage._writer(
    p_table regclass,
    OUT p_since timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $writer$
DECLARE
    v_writer record;
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_class AS c WHERE c.oid = p_table AND c.relkind IN ('r', 'p')
    ) THEN
        PERFORM omd.raise_error(
            'OM206',
            jsonb_build_object(
                'table_code', p_table::text,
                'problem', 'it is not a table of this database, so its writers can''t be seen'
            )
        );
    END IF;
    v_writer := omd.oldest_writer(p_table);
    p_since := v_writer.p_since;
    p_who := v_writer.p_who;
END
$writer$;

COMMENT ON FUNCTION omd_lineage._writer IS
'Returns what omd.oldest_writer does of the base table p_table. Errors: OM206: it is not a table '
'of this database. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._writer TO omd_runner, omd_admin;
