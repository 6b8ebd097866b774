-- What a step replaces can come again, but not what a foreign key deletes elsewhere meanwhile.

CREATE OR REPLACE FUNCTION omd_lineage._refuse_loss(
    p_table regclass,
    p_condition text,
    p_undone bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $refuse_loss$
DECLARE
    v_loss jsonb := omd.find_loss(p_table, p_condition, p_undone);
BEGIN
    IF v_loss IS NOT NULL THEN
        PERFORM omd_lineage._raise_referenced(
            p_table, v_loss ->> 'table_name', v_loss ->> 'problem', v_loss ->> 'way_out'
        );
    END IF;
END
$refuse_loss$;

COMMENT ON FUNCTION omd_lineage._refuse_loss IS
'Raises OM118 when deleting the rows p of the destination p_table with p_condition would delete or '
'change a row of a run that is none of p_undone through a foreign key. _lock_destination comes '
'before. Errors: OM118. Locks: the rows that go with them.';
GRANT EXECUTE ON FUNCTION omd_lineage._refuse_loss TO omd_runner;
