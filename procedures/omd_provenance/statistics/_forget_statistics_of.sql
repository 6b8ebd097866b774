-- What is left of the statistics of a table of a user is his to remove, if he owns it.

CREATE OR REPLACE FUNCTION omd_provenance._forget_statistics_of(
    p_items jsonb,
    p_texts text[]
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $forget_statistics_of$
DECLARE
    v_table record;
    v_problem text;
    v_items jsonb := '[]'::jsonb;
BEGIN
    FOR v_table IN
        SELECT
            i.table_code AS code,
            pg_get_userbyid(c.relowner) = 'omd_owner' AS is_of_rooms
        FROM (
            SELECT n.table_code
            FROM jsonb_to_recordset(p_items) AS n (
                layer text, table_code text, outcome text, row_count bigint
            )
            WHERE n.row_count > 0
                AND n.outcome IN ('DELETED', 'NULLED', 'MASKED')
            UNION
            SELECT unnest(n.tables)
            FROM jsonb_to_recordset(p_items) AS n (tables text[], row_count bigint)
            WHERE n.row_count > 0
            UNION
            SELECT omd_provenance._showing_tables(p_texts)
        ) AS i
        INNER JOIN pg_class AS c ON c.oid = omd.target_relation(i.table_code)
        ORDER BY i.table_code
    LOOP
        IF v_table.is_of_rooms THEN
            v_problem := omd_provenance._forget_rooms_statistics(v_table.code, p_texts);
        ELSE
            v_problem := omd_provenance._forget_statistics(v_table.code, p_texts);
        END IF;
        v_items := v_items || jsonb_build_object(
            'layer', CASE WHEN v_problem IS NULL THEN 'STATISTICS' ELSE 'NOT_REACHED' END,
            'table_code', v_table.code,
            'outcome', CASE WHEN v_problem IS NULL THEN 'ANALYZED' ELSE 'NOT_REACHED' END,
            'key_count', NULL,
            'row_count', NULL,
            'text', 'statistics: ' || v_problem
        );
    END LOOP;
    RETURN v_items;
END
$forget_statistics_of$;

COMMENT ON FUNCTION omd_provenance._forget_statistics_of IS
'Makes the statistics of the tables that p_items name those of the rows that are left, and returns '
'the items: not reached is a table whose statistics show one of p_texts still, or could. Locks: '
'these tables, against DDL.';
GRANT EXECUTE ON FUNCTION omd_provenance._forget_statistics_of TO omd_admin;
