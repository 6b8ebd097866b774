-- A statement has one time limit, which a routine can't shorten for a part of it. So a look that
-- would take long is not begun: without its index, the look reads the whole table. The partitions
-- of a table count, since the index may be on each of them alone.

CREATE OR REPLACE FUNCTION omd_lineage._missing_index(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    OUT p_problem text,
    OUT p_is_large boolean
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $missing_index$
DECLARE
    v_tables oid[] := ARRAY[omd_lineage._table_oid(p_table_code)];
    v_table oid;
    v_pages integer;
BEGIN
    p_is_large := FALSE;
    IF (SELECT c.relhassubclass FROM pg_class AS c WHERE c.oid = v_tables[1]) THEN
        WITH RECURSIVE tree AS (
            SELECT v_tables[1] AS relid
            UNION
            SELECT h.inhrelid
            FROM tree AS t
            INNER JOIN pg_inherits AS h ON t.relid = h.inhparent
        )
        SELECT array_agg(t.relid) INTO v_tables FROM tree AS t;
    END IF;
    FOREACH v_table IN ARRAY v_tables LOOP
        v_pages := (
            SELECT c.relpages FROM pg_class AS c
            WHERE c.oid = v_table
                AND c.relkind = 'r'
                AND NOT EXISTS (
                    SELECT FROM pg_index AS i
                    INNER JOIN pg_class AS ic ON ic.oid = i.indexrelid
                    INNER JOIN pg_attribute AS pos
                        ON pos.attrelid = i.indrelid AND pos.attnum = i.indkey[0]
                    LEFT JOIN pg_attribute AS id
                        ON id.attrelid = i.indrelid AND id.attnum = i.indkey[1]
                    WHERE i.indrelid = v_table
                        AND i.indisvalid
                        AND i.indpred IS NULL
                        AND ic.relam = (SELECT am.oid FROM pg_am AS am WHERE am.amname = 'btree')
                        AND (
                            (pos.attname = p_pos_column AND id.attname = p_id_column)
                            OR (p_pos_column = '' AND pos.attname = p_id_column)
                        )
                        -- both ascending, or both descending, with the NULLs at their usual end
                        AND (i.indoption[0] = i.indoption[1] OR p_pos_column = '')
                        AND i.indoption[0] IN (0, 3)
                )
        );
        IF v_pages IS NOT NULL THEN
            p_problem := format(
                'its index on (%s) is missing',
                concat_ws(', ', nullif(p_pos_column, ''), p_id_column)
            );
            p_is_large := p_is_large OR v_pages > 16384;
        END IF;
    END LOOP;
END
$missing_index$;

COMMENT ON FUNCTION omd_lineage._missing_index IS
'Returns p_problem, in plain words, when the table p_table_code (schema.table) has no index on '
'(p_pos_column, p_id_column), and whether the table is too large to be read without it '
'(p_is_large: 16,384 pages at the last ANALYZE); p_problem is NULL when the index is there. Locks:'
' none.';
REVOKE ALL ON FUNCTION omd_lineage._missing_index FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._missing_index TO omd_runner, omd_admin;
