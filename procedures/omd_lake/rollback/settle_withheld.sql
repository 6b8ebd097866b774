-- Whether the rows are missed is a question to people; OMD has only seen that somebody removed all.

CREATE OR REPLACE PROCEDURE omd_lake.settle_withheld(
    p_table_code text,
    INOUT p_settled bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_withheld$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
BEGIN
    UPDATE omd_lake.withheld_rows AS w SET settled_datetime = clock_timestamp()
    WHERE w.table_code = v_table_code AND w.settled_datetime IS NULL;
    GET DIAGNOSTICS p_settled = ROW_COUNT;
    IF p_settled = 0 THEN
        PERFORM omd_lake._require_known(v_table_code);
    END IF;
END
$settle_withheld$;

COMMENT ON PROCEDURE omd_lake.settle_withheld IS
'Settles the problems of the table p_table_code that omd_report.lake_tables shows: somebody has '
'seen which rows stay away, and has written them again where they are needed. Returns p_settled, '
'how many problems there were. Errors: OM005, OM009, OM013, OM020. Locks: their rows. Call again '
'when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.settle_withheld TO omd_admin;
