-- A statement has one time limit, which a routine can't shorten for a part of it. So a look that
-- would take long is not begun: without its index, the look reads the whole table. The partitions
-- of a table count, since the index may be on each of them alone.

CREATE OR REPLACE FUNCTION omd_lineage._missing_index(
    p_table_code text,
    p_pos_column text,
    p_id_column text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $missing_index$
DECLARE
    v_tables oid[] := ARRAY[omd.target_relation(p_table_code)];
    v_table oid;
    v_pages integer;
    v_problem text;
BEGIN
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
            v_problem := format(
                'its index on (%s) is missing',
                concat_ws(', ', nullif(p_pos_column, ''), p_id_column)
            );
            IF v_pages > 16384 THEN
                PERFORM omd.raise_error(
                    'OM206',
                    jsonb_build_object(
                        'table_code', p_table_code,
                        'problem', v_problem || ', and it is too large to be read without'
                    )
                );
            END IF;
        END IF;
    END LOOP;
    RETURN v_problem;
END
$missing_index$;

COMMENT ON FUNCTION omd_lineage._missing_index IS
'Returns in plain words that the table p_table_code (schema.table) has no index on (p_pos_column, '
'p_id_column), or on p_id_column when p_pos_column is empty; NULL when it has. Errors: OM206: '
'without the index the table is too large to be read (16,384 pages at the last ANALYZE). Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_lineage._missing_index TO omd_runner, omd_admin;
